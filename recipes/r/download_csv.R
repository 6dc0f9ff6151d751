# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears.

library(httr2)
library(readr)

setting <- function(name, meaning) {
  value <- Sys.getenv(name)
  if (value == "") stop("Set the environment variable ", name, " to ", meaning, ".", call. = FALSE)
  Encoding(value) <- "UTF-8" # cron, among others, sets no locale
  value
}
api <- Sys.getenv("SURVEY_API")
if (api == "") api <- "http://127.0.0.1:8787/api/v1"
key <- setting("SURVEY_KEY", "your API key")
survey <- setting("SURVEY", "the name of a survey")

fetch <- function(path, file = NULL, ...) { # saves the response in a file, if there is one
  response <- request(api) |>
    req_url_path_append("responses", path) |>
    req_url_query(survey = survey, ...) |>
    req_auth_bearer_token(key) |>
    # When the service is busy (429, 503), waits as long as it requests. Before 1.1, httr2 also retries when the connection fails.
    req_retry(max_tries = 8, backoff = \(tries) 1) |>
    req_error(is_error = \(response) FALSE) |>
    req_perform(path = file) |>
    tryCatch(error = \(error) {
      cause <- if (is.null(error$parent)) error else error$parent
      stop("The download failed: ", conditionMessage(cause), call. = FALSE)
    })
  if (resp_header_exists(response, "X-Error-Code")) {
    stop(resp_body_json(response)$error$message, call. = FALSE) # the service's message
  }
  if (resp_is_error(response)) stop("The download failed: status ", resp_status(response), call. = FALSE)
  response
}

total <- as.numeric(resp_header(fetch("csv", "responses.csv.part", count = "true"), "X-Total-Count"))
invisible(fetch("form-data", "form-data.csv.part"))

table <- read_csv("responses.csv.part",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
if (nrow(table) < total) { # there can be more, if responses arrived in the meantime
  stop("responses.csv.part has ", nrow(table), " responses of ", total, call. = FALSE)
}
files <- c("responses.csv", "form-data.csv")
invisible(file.rename(paste0(files, ".part"), files))

print(table[c("timestamp", "userid", "question_ref", "response")])
