# One row per participant
#
# Saves `participants.csv` and reads it: one row per participant and chain of forms, one column per question, with translated
# answers where there are any. Leaves out testers, whose metadata lacks a key, and participants who took a form more than once.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")
key <- "cluster" # a key of the metadata that testers lack; it also becomes the column metadata.cluster

request(api) |>
  req_url_path_append("responses", "csv") |>
  req_url_query(
    survey = Sys.getenv("SURVEY"), layout = "wide",
    value = "translated", # or "response"
    repeats = "drop", # "first" keeps the first attempt; "last", the last answer to each question
    require_metadata = key, metadata = key
  ) |>
  req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
  req_retry(max_tries = 8) |> # when the service is busy (429, 503), waits as long as it requests
  req_error(body = \(response) resp_body_string(response)) |> # shows the service's message
  req_perform(path = "participants.csv.part") |>
  invisible()
invisible(file.rename("participants.csv.part", "participants.csv"))

table <- read_csv("participants.csv",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
print(table)
