test_that("data frames have every cell of the file", {
  expect_cells <- function(call, path, query, ...) {
    table <- call(hard(), HARD, ...)
    expect_true(all(vapply(table, is.character, TRUE)))
    expect_bytes(as_csv(table), body_of(path, HARD, "HARD_KEY", query))
  }
  expect_cells(survey_responses, "/csv", "")
  query <- "&metadata=note&metadata=ratio&arm=seed_2&omit=pageid"
  expect_cells(survey_responses, "/csv", query, metadata = c("note", "ratio"), arm = "seed_2", omit = "pageid")
  expect_cells(survey_wide, "/csv", "&layout=wide")
  query <- "&layout=wide&columns=question&value=translated&timing=true"
  expect_cells(survey_wide, "/csv", query, columns = "question", value = "translated", timing = TRUE)
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
    "cat(nrow(table), ncol(table), nrow(survey_responses(client, found)), sum(nchar(unlist(table)), na.rm = TRUE))"
  )
  shown <- run_r(code, env = "LC_ALL=C")
  expect_identical(shown, run_r(code, env = "LC_ALL=C.UTF-8"))
  expect_match(shown, "^8 728 2880 [0-9]+$")
})

test_that("the list has a row for each version of a form", {
  surveys <- survey_list(demo())
  expect_identical(unique(surveys$survey_name), c(DEMO, EMPTY))
  expect_identical(names(surveys)[c(1, 2, 10)], c("id", "survey_name", "timeouts"))
  expect_identical(surveys$metadata[[1]], '{"tags": ["health", "food"], "team": "\u00c1gua", "wave": 2}')
  expect_true(all(is.na(surveys$off_time) | grepl("^2026-", surveys$off_time)))
})

test_that("an empty selection has the columns", {
  client <- demo()
  expect_identical(dim(survey_responses(client, DEMO, since = "2100-01-01")), c(0L, 14L))
  expect_identical(dim(survey_wide(client, DEMO, question_ref = "none")), c(0L, 8L))
  expect_identical(dim(survey_labelled(client, DEMO, question_ref = "none")), c(0L, 8L))
  expect_identical(dim(survey_codebook(client, DEMO, question_ref = "none")), c(0L, 10L))
  expect_identical(dim(survey_answers(client, DEMO, question_ref = "none")), c(0L, 5L))
})

test_that("a survey without responses is an error", {
  client <- demo()
  for (call in list(survey_responses, survey_wide, survey_labelled, survey_codebook, survey_answers)) {
    error <- error_of(call(client, EMPTY))
    expect_identical(list(error$status, error$code), list(500L, "no_responses"))
    expect_match(conditionMessage(error), "No responses were found for survey: Pilot study.*survey_list")
    expect_match(error$request_id, "-")
  }
})

test_that("a file with a record of another length is no table", {
  writeLines(c("a,b", "1,2", "3"), file <- tempfile())
  expect_match(conditionMessage(error_of(surveyexport:::read_csv(file))), "of another length than its header")
})
