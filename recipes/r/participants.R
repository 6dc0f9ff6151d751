# One row per participant
#
# Saves `participants.csv` and reads it: one row per participant and chain of forms, one column per question, with translated
# answers where there are any. Its argument is a key of the metadata, such as `cluster`, which becomes the column
# `metadata.cluster`. (In RStudio, which passes no arguments, write `args <- "cluster"`.)
#
# Leaves out participants who have a response without this key, such as testers, and participants who took a form more than once.
# Prints how many were left out, and fails if it was everybody.

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
args <- commandArgs(trailingOnly = TRUE)
if (length(args) != 1) stop("Name a key of the metadata, such as cluster.", call. = FALSE)
Encoding(args) <- "UTF-8"
repeats <- "drop" # "first" keeps the first attempt; "last", the last answer to each question

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

summary <- resp_body_json(fetch("summary", repeats = repeats, require_metadata = args))
if (summary$participants == 0) {
  stop("All ", summary$left_out, " participants are left out: each has a response without the metadata key \"", args,
    "\", or took a form more than once.", call. = FALSE
  )
}
message(summary$left_out, " of ", summary$participants + summary$left_out, " participants are left out")

fetch("csv", "participants.csv.part",
  layout = "wide",
  value = "translated", # or "response", or "label": the texts of choices that the question lists as A, B, C
  repeats = repeats, require_metadata = args, metadata = args
) |> invisible()
invisible(file.rename("participants.csv.part", "participants.csv"))

table <- read_csv("participants.csv",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
print(table)
