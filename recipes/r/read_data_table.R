# Read the files with fread
#
# `fread` of data.table is the fastest way to read large files in R. It leaves the doubled quotes of CSV as they are
# ([an open issue](https://github.com/Rdatatable/data.table/issues/1109)), which makes `metadata` invalid JSON, so the recipe halves
# them. A missing value and an empty answer both become an empty string. Reads `responses.csv` and `form-data.csv`
# (`download_csv.R` saves them), joined by `surveyid`.

library(data.table)

read <- function(file) {
  table <- fread(file, sep = ",", quote = "\"", header = TRUE, colClasses = "character", na.strings = NULL,
    strip.white = FALSE, encoding = "UTF-8"
  )
  table[, names(table) := lapply(.SD, gsub, pattern = "\"\"", replacement = "\"", fixed = TRUE)]
}
responses <- read("responses.csv")
forms <- read("form-data.csv")
joined <- forms[, .(surveyid, shortcode, version)][responses, on = "surveyid"] # in the order of the responses

# The number of answers, and of people who gave them, by question.
print(joined[, .(answers = .N, people = uniqueN(userid)), by = .(shortcode, version, question_ref)])

# A value from the metadata, which is JSON, or empty.
value <- function(json, name) if (json == "") "" else format(jsonlite::fromJSON(json, bigint_as_char = TRUE)[[name]])
joined[, platform := vapply(metadata, \(json) c(value(json, "platform"), "")[1], "")]

fwrite(joined, "joined.csv.part", quote = TRUE)
invisible(file.rename("joined.csv.part", "joined.csv"))
