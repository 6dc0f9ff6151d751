# Download a survey as CSV, and read it
#
# Saves `responses.csv`, once it is complete. Every column is read as text; a missing value and an empty answer both become "".

library(httr2)
library(readr)

# SURVEY_API and SURVEY_KEY are earlier names.
first <- \(names, default) c(Filter(nzchar, Sys.getenv(names)), default)[[1]]
url <- first(c("SURVEY_EXPORT_URL", "SURVEY_API"), "http://127.0.0.1:8787")
api <- paste0(sub("(/api/v1)?/?$", "", url), "/api/v1")
key <- first(c("SURVEY_EXPORT_KEY", "SURVEY_KEY"), "")
survey <- Sys.getenv("SURVEY")
Encoding(survey) <- "UTF-8" # cron, among others, sets no locale

# If the transfer breaks off, req_perform stops with an error.
response <- request(api) |>
  req_url_path_append("responses", "csv") |>
  req_url_query(survey = survey, count = "true") |>
  req_auth_bearer_token(key) |>
  req_retry(max_tries = 8, backoff = \(tries) 1) |> # after 429 and 503, waits for the number of seconds in Retry-After
  req_error(is_error = \(response) FALSE) |>
  req_perform(path = "responses.csv.part")
if (resp_is_error(response)) {
  stop(resp_status(response), ": ", read_file("responses.csv.part"), call. = FALSE)
}

table <- read_csv("responses.csv.part",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
total <- as.numeric(resp_header(response, "X-Total-Count"))
if (nrow(table) < total) { # there can be more, if responses arrived in the meantime
  stop("responses.csv.part has ", nrow(table), " responses of ", total, call. = FALSE)
}
invisible(file.rename("responses.csv.part", "responses.csv"))
print(table[c("timestamp", "userid", "question_ref", "response")])
