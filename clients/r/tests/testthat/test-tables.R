test_that("data frames have every cell of the file", {
  expect_cells <- function(call, path, query, ...) {
    table <- call(hard(), HARD, ...)
    expect_s3_class(table, "tbl_df")
    counts <- names(table) %in% c("responses", "participants", "records")
    expect_identical(unname(vapply(table, is.numeric, TRUE)), counts)
    expect_bytes(as_csv(table), body_of(path, HARD, "HARD_KEY", query))
  }
  expect_cells(survey_responses, "/csv", "")
  query <- "&metadata=note&metadata=ratio&omit=pageid"
  expect_cells(survey_responses, "/csv", query, metadata = c("note", "ratio"), omit = "pageid")
  expect_cells(survey_wide, "/csv", "&layout=wide")
  query <- "&layout=wide&value=translated&timing=true"
  expect_cells(survey_wide, "/csv", query, value = "translated", timing = TRUE)
  expect_cells(survey_codebook, "/questions", "&format=csv")
  query <- "&format=csv&top=2&by=metadata.note"
  expect_cells(survey_answers, "/answers", query, top = 2, by = "metadata.note")
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
  error <- error_of(survey_responses(demo(), EMPTY))
  expect_identical(list(error$status, error$code), list(500L, "no_responses"))
  expect_match(conditionMessage(error), "No responses were found .*Pilot study.*survey_list")
  expect_match(error$request_id, "-")
})

test_that("the summary has the numbers of the service", {
  summary <- survey_summary(demo(), DEMO, until = "2026-01-08", require_metadata = "none")
  left_out <- list(rule = "require_metadata", name = "none", participants = 28)
  expect_identical(as.list(summary$left_out_by[1:3]), left_out)
  expect_length(summary$left_out_by$userids[[1]], summary$left_out)
  expect_identical(dim(summary$days), c(0L, 3L))
  expect_identical(summary$first, NA_character_)
  expect_identical(dim(summary$stops), c(0L, 3L))

  summary <- survey_summary(demo(), DEMO, stops = TRUE)
  expect_identical(c(summary$responses, summary$participants), c(3221, 400))
  expect_identical(c(sum(summary$days$responses), sum(summary$forms$responses)), c(3221, 3221))
  expect_identical(dim(summary$left_out_by), c(0L, 4L))
  expect_identical(sum(summary$stops$participants), 400)
})

test_that("numbers of answers are a table", {
  numbers <- attr(survey_answers(demo(), DEMO, top = 1, numbers = TRUE), "numbers")
  meals <- numbers[numbers$column == "healthfood.meals", ]
  expect_identical(meals$records, 298)
  expect_identical(c(meals$min, meals$median, meals$max, meals$sum), c("0", "3", "5", "774"))
})

test_that("a wrong call is an error of this package", {
  for (call in c(CALLS, survey_list, survey_summary, survey_download)) {
    expect_s3_class(error_of(call()), "survey_export_error")
    if (!identical(call, survey_list)) {
      expect_s3_class(error_of(call(demo())), "survey_export_error")
    }
  }
  expect_failure(survey_labelled(demo(), DEMO, program = "sas"), "spss")
})

test_that("the examples of the README run", {
  skip_without_service()
  path <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(path))
  text <- paste(readLines(path, encoding = "UTF-8"), collapse = "\n")
  blocks <- regmatches(text, gregexpr("(?s)```r\n.*?```", text, perl = TRUE))[[1]]
  code <- gsub("```r\n|```", "", blocks[!grepl("install.packages", blocks)])
  shown <- run_r(
    c("dir.create(folder <- tempfile())", "setwd(folder)", code),
    env = paste0("SURVEY_EXPORT_", c("URL=", "KEY="), c(setting("URL"), setting("KEY")))
  )
  expect_null(attr(shown, "status"), info = paste(shown, collapse = "\n"))
})

test_that("a file with a record of another length is no table", {
  writeLines(c("a,b", "1,2", "3"), file <- tempfile())
  expect_failure(surveyexport:::read_csv(file), "of another length than its header")
})
