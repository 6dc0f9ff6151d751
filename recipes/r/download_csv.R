# Download a survey as CSV
#
# The file is called `responses.csv.part` until it is complete. If the connection breaks or the service returns an error, the
# program stops.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

response <- request(api) |>
  req_url_path_append("responses", "csv") |>
  req_url_query(survey = Sys.getenv("SURVEY"), count = "true") |>
  req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
  req_retry(max_tries = 8) |> # when the service is busy (429, 503), waits as long as it requests
  req_error(body = \(response) resp_body_string(response)) |> # shows the service's message
  req_perform(path = "responses.csv.part")
total <- as.numeric(resp_header(response, "X-Total-Count"))

table <- read_csv("responses.csv.part",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
if (nrow(table) < total) { # there can be more, if responses arrived in the meantime
  stop("responses.csv.part has ", nrow(table), " responses of ", total)
}
invisible(file.rename("responses.csv.part", "responses.csv"))

print(table[c("timestamp", "userid", "question_ref", "response")])
