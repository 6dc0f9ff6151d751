test_that("values select what they say", {
  client <- demo()
  all <- survey_responses(client, DEMO)
  users <- unique(all$userid)[1:2]
  some <- survey_responses(client, DEMO, since = as.Date("2026-02-01"), userid = factor(users))
  expected <- all[all$timestamp >= "2026-02-01" & all$userid %in% users, ]
  expect_bytes(as_csv(some), as_csv(expected))
  time <- as.POSIXct("2026-01-06 06:00:33.016661", tz = "UTC")
  expect_identical(surveyexport:::texts("since", time), "2026-01-06T06:00:33.016661Z")
  first <- survey_responses(client, DEMO, since = time)$timestamp[[1]]
  expect_identical(first, "2026-01-06T06:00:33.825849Z")
  expect_identical(nrow(survey_responses(client, DEMO, since = NULL)), nrow(all))
})

test_that("nothing, missing and other values are errors, never everybody or nobody", {
  client <- demo()
  wrong <- list(character(0), NA, NA_character_, c("1", NA), list("1"), list(), mean, as.raw(1))
  for (value in c(wrong, 1.5, 2^53, Inf, NaN, 1i)) {
    expect_failure(survey_responses(client, DEMO, userid = value), "^userid ")
    expect_failure(survey_wide(client, DEMO, metadata = value), "^metadata ")
  }
  expect_failure(survey_responses(client, character(0)), "^survey ")
  expect_failure(survey_responses(client, NULL), "the second the name of a survey")
  expect_failure(survey_responses(client, DEMO, "2026-03-01"), "need a name and a value")
  expect_failure(survey_wide(client, DEMO, layout = "long"), "^layout ")
  expect_failure(survey_answers(client, DEMO, format = "json"), "^format ")
  expect_failure(survey_responses(client, DEMO, pageSize = 1), "^pageSize ")
  expect_failure(survey_wide(client, DEMO, until = 1, until = 2), "^until ")
  expect_failure(survey_responses(client, DEMO, omit = "userid"), "omit cannot name userid")
})

test_that("an unknown parameter is an error that names it", {
  client <- demo()
  for (call in CALLS) {
    error <- error_of(call(client, DEMO, sinse = "2026-03-01"))
    expect_identical(list(error$status, error$code), list(400L, "invalid_parameter"))
    expect_match(conditionMessage(error), "sinse")
  }
})
