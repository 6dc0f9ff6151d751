# Join responses with their form versions
#
# `/responses/form-data` has one row per form version, with its creation time and metadata; `surveyid` joins the two files.
# `metadata` is JSON: in a response it describes the participant, in a form version the form.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

table_from <- function(...) {
  response <- request(api) |>
    req_url_path_append(...) |>
    req_url_query(survey = Sys.getenv("SURVEY")) |>
    req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
    req_retry(max_tries = 8) |> # when the service is busy (429, 503), waits as long as it requests
    req_error(body = \(response) resp_body_string(response)) |> # shows the service's message
    req_perform()
  read_csv(resp_body_raw(response),
    col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
  )
}

responses <- table_from("responses", "csv")
forms <- table_from("responses", "form-data")

# merge() would change the order of the responses.
row <- match(responses$surveyid, forms$surveyid)
if (anyNA(row)) stop("a form version was added during the download: run this again")
joined <- cbind(responses, forms[row, c("shortcode", "survey_name", "version", "survey_created")])

# Extracts a value from JSON. Numbers that are too long for R become text.
json_value <- function(json, name) {
  if (json == "") return("")
  value <- jsonlite::fromJSON(json, simplifyVector = FALSE, bigint_as_char = TRUE)[[name]]
  if (is.null(value)) "" else format(value, digits = 15)
}
joined$platform <- vapply(joined$metadata, json_value, "", name = "platform", USE.NAMES = FALSE)
joined$wave <- vapply(forms$metadata, json_value, "", name = "wave", USE.NAMES = FALSE)[row]

write_csv(joined, "joined.csv.part", progress = FALSE)
invisible(file.rename("joined.csv.part", "joined.csv"))
print(table(paste(joined$shortcode, joined$version), joined$platform))
