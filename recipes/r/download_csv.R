# Download a survey as CSV
#
# As long as the file is being written it is called `responses.csv.part`. When the connection breaks off, or the service says
# no, the program ends there with an error.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

answer <- request(api) |>
  req_url_path_append("responses", "csv") |>
  req_url_query(survey = Sys.getenv("SURVEY"), count = "true") |>
  req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
  req_retry(max_tries = 8) |> # when the service is busy (429, 503): again, after as many seconds as it says
  req_error(body = \(answer) resp_body_string(answer)) |> # the service says what is wrong
  req_perform(path = "responses.csv.part")
total <- as.numeric(resp_header(answer, "X-Total-Count"))

table <- read_csv("responses.csv.part",
  col_types = cols(.default = "c"), na = character(), trim_ws = FALSE, lazy = FALSE, progress = FALSE
)
stop_for_problems(table)
if (nrow(table) < total) { # more there may be: responses that came in meanwhile
  stop("responses.csv.part has ", nrow(table), " responses of ", total)
}
invisible(file.rename("responses.csv.part", "responses.csv"))

print(table[c("timestamp", "userid", "question_ref", "response")])
