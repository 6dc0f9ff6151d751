test_that("data frames have every cell of the file", {
  expect_cells <- function(call, path, query, ...) {
    table <- call(hard(), HARD, ...)
    expect_true(all(vapply(table, is.character, TRUE)))
    expect_bytes(as_csv(table), body_of(path, HARD, "HARD_KEY", query))
  }
  expect_cells(survey_responses, "/csv", "")
  query <- "&metadata=note&metadata=ratio&omit=pageid"
  expect_cells(survey_responses, "/csv", query, metadata = c("note", "ratio"), omit = "pageid")
  expect_cells(survey_wide, "/csv", "&layout=wide")
  query <- "&layout=wide&value=translated&timing=true"
  expect_cells(survey_wide, "/csv", query, value = "translated", timing = TRUE)
  expect_cells(survey_codebook, "/questions", "&format=csv")
  expect_cells(survey_answers, "/answers", "&format=csv&top=2", top = 2)
})

test_that("a survey's name and texts are read in a C locale too", {
  hard()
  code <- c(
    "client <- survey_client(setting('URL'), setting('HARD_KEY'))",
    "name <- setting('HARD_SURVEY')",
    "found <- survey_list(client)$survey_name",
    "table <- survey_wide(client, name)",
    "responses <- survey_responses(client, found)",
    "cat(dim(table), nrow(responses), sum(nchar(unlist(table)), na.rm = TRUE))"
  )
  shown <- run_r(code, env = "LC_ALL=C")
  expect_identical(shown, run_r(code, env = "LC_ALL=C.UTF-8"))
  expect_match(shown, "^8 728 2880 [0-9]+$")
})

test_that("the list has a row for each version of a form", {
  surveys <- survey_list(demo())
  expect_identical(unique(surveys$survey_name), c(DEMO, EMPTY))
  expect_identical(names(surveys)[c(1, 2, 10)], c("id", "survey_name", "timeouts"))
  metadata <- '{"tags": ["health", "food"], "team": "\u00c1gua", "wave": 2}'
  expect_identical(surveys$metadata[[1]], metadata)
  expect_true(all(is.na(surveys$off_time) | grepl("^2026-", surveys$off_time)))
})

test_that("an empty selection has the columns", {
  client <- demo()
  for (number in seq_along(CALLS)) {
    table <- CALLS[[number]](client, DEMO, question_ref = "none")
    expect_identical(dim(table), c(0L, c(14L, 8L, 8L, 10L, 5L)[[number]]))
  }
})

test_that("a survey without responses is an error", {
  client <- demo()
  for (call in CALLS) {
    error <- error_of(call(client, EMPTY))
    expect_identical(list(error$status, error$code), list(500L, "no_responses"))
    expect_match(conditionMessage(error), "No responses were found .*Pilot study.*survey_list")
    expect_match(error$request_id, "-")
  }
})

test_that("a file with a record of another length is no table", {
  writeLines(c("a,b", "1,2", "3"), file <- tempfile())
  expect_failure(surveyexport:::read_csv(file), "of another length than its header")
})
