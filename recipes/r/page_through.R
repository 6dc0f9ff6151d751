# Read page by page
#
# The `token` of a page's last response requests the next page; the page after the last response is empty. Pages suit programs that
# need a few responses quickly. To get a whole survey, one file is faster.

library(httr2)
library(readr)

api <- Sys.getenv("SURVEY_API", "http://127.0.0.1:8787/api/v1")

get_page <- function(after = NULL) {
  request(api) |>
    req_url_path_append("responses") |>
    req_url_query(survey = Sys.getenv("SURVEY"), pageSize = "1000", after = after) |>
    req_auth_bearer_token(Sys.getenv("SURVEY_KEY")) |>
    req_retry(max_tries = 8) |> # when the service is busy (429, 503), waits as long as it requests
    req_error(body = \(response) resp_body_string(response)) |> # shows the service's message
    req_perform() |>
    resp_body_json(bigint_as_char = TRUE) |> # keeps all digits of long ids in the metadata
    getElement("responses")
}

pages <- list()
page <- get_page()
while (length(page) > 0) {
  pages <- c(pages, list(page))
  page <- get_page(after = page[[length(page)]]$token)
}
responses <- unlist(pages, recursive = FALSE)

column <- function(name) {
  vapply(responses, function(r) if (is.null(r[[name]])) NA_character_ else r[[name]], character(1))
}
names <- c("surveyid", "userid", "question_ref", "response", "timestamp", "translated_response", "token")
table <- as.data.frame(sapply(names, column, simplify = FALSE))
print(table(table$question_ref))

# Without na = "", a missing value would be written as "NA", like an answer. (Now it equals an empty string.)
write_csv(table, "responses-from-pages.csv.part", na = "", progress = FALSE)
invisible(file.rename("responses-from-pages.csv.part", "responses-from-pages.csv"))
