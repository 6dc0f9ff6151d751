# Join responses with their form versions
#
# `/responses/form-data` says of each form version when it was made and what its metadata is; `surveyid` is what both files
# have in common. `metadata` is JSON: of a response, what is known of the participant; of a form version, what its maker wrote.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

table_from <- function(...) {
  answer <- request(api) |>
    req_url_path_append(...) |>
    req_url_query(survey = Sys.getenv("SURVEY")) |>
    req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
    req_retry(max_tries = 8) |> # when the service is busy (429, 503): again, after as many seconds as it says
    req_error(body = \(answer) resp_body_string(answer)) |> # the service says what is wrong
    req_perform()
  read_csv(resp_body_raw(answer),
    col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
  )
}

responses <- table_from("responses", "csv")
forms <- table_from("responses", "form-data")

# merge() would change the order of the responses.
row <- match(responses$surveyid, forms$surveyid)
if (anyNA(row)) stop("a form version was added meanwhile: run it again")
joined <- cbind(responses, forms[row, c("shortcode", "survey_name", "version", "survey_created")])

# One value of a JSON text. Numbers too long for R to hold come as text.
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
