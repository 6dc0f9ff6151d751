test_that("values select what they say", {
  client <- demo()
  all <- survey_responses(client, DEMO)
  expect_bytes(
    as_csv(survey_responses(client, DEMO, since = as.Date("2026-02-01"), userid = factor(unique(all$userid)[1:2]))),
    as_csv(all[all$timestamp >= "2026-02-01" & all$userid %in% unique(all$userid)[1:2], ])
  )
  time <- as.POSIXct("2026-01-06 06:00:33.016661", tz = "UTC")
  expect_identical(surveyexport:::texts("since", time), "2026-01-06T06:00:33.016661Z")
  expect_identical(survey_responses(client, DEMO, since = time)$timestamp[[1]], "2026-01-06T06:00:33.825849Z")
  expect_identical(nrow(survey_responses(client, DEMO, since = NULL)), nrow(all))
})

test_that("nothing, missing and other values are errors, never everybody or nobody", {
  client <- demo()
  wrong <- list(character(0), NA, NA_character_, c("1", NA), list("1"), list(), 1.5, 2^53, Inf, NaN, mean, as.raw(1), 1i)
  for (value in wrong) {
    expect_s3_class(error_of(survey_responses(client, DEMO, userid = value)), "survey_export_error")
    expect_match(conditionMessage(error_of(survey_wide(client, DEMO, metadata = value))), "^metadata ")
  }
  expect_match(conditionMessage(error_of(survey_responses(client, character(0)))), "^survey ")
  expect_match(conditionMessage(error_of(survey_responses(client, NULL))), "need a name and a value")
  expect_match(conditionMessage(error_of(survey_responses(client, DEMO, "2026-03-01"))), "need a name and a value")
  expect_match(conditionMessage(error_of(survey_wide(client, DEMO, layout = "long"))), "^layout ")
  expect_match(conditionMessage(error_of(survey_wide(client, DEMO, until = 1, until = 2))), "^until ")
  expect_match(conditionMessage(error_of(survey_responses(client, DEMO, omit = "userid"))), "omit cannot name userid")
})

test_that("an unknown parameter is an error that names it", {
  client <- demo()
  for (call in list(survey_responses, survey_wide, survey_labelled, survey_codebook, survey_answers)) {
    error <- error_of(call(client, DEMO, sinse = "2026-03-01"))
    expect_identical(list(error$status, error$code), list(400L, "invalid_parameter"))
    expect_match(conditionMessage(error), "sinse")
  }
})
