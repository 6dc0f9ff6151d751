# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

download <- function(path, name, ...) { # saves a file as <name>.part
  request(api) |>
    req_url_path_append("responses", path) |>
    req_url_query(survey = Sys.getenv("SURVEY"), ...) |>
    req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
    req_retry(max_tries = 8) |> # when the service is busy (429, 503), waits as long as it requests
    req_error(body = \(response) resp_body_string(response)) |> # shows the service's message
    req_perform(path = paste0(name, ".part"))
}
total <- as.numeric(resp_header(download("csv", "responses.csv", count = "true"), "X-Total-Count"))
download("form-data", "form-data.csv")

table <- read_csv("responses.csv.part",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
if (nrow(table) < total) { # there can be more, if responses arrived in the meantime
  stop("responses.csv.part has ", nrow(table), " responses of ", total)
}
files <- c("responses.csv", "form-data.csv")
invisible(file.rename(paste0(files, ".part"), files))

print(table[c("timestamp", "userid", "question_ref", "response")])
