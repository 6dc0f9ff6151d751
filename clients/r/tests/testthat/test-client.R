test_that("URL and key come from the environment, or are refused", {
  old <- Sys.getenv(c("SURVEY_EXPORT_URL", "SURVEY_EXPORT_KEY"), names = TRUE)
  on.exit(do.call(Sys.setenv, as.list(old)))
  Sys.setenv(SURVEY_EXPORT_URL = "", SURVEY_EXPORT_KEY = "")
  for (value in list(NULL, "", " ", NA, NA_character_, character(0), c("a", "b"), 1, list("a"))) {
    expect_failure(survey_client("https://x.example", value), "SURVEY_EXPORT_KEY")
    expect_failure(survey_client(value, "secret"), "SURVEY_EXPORT_URL")
  }
  urls <- c("x.example", "ftp://x", "https://", "https://x?a", "https://me:you@x", "https://x y")
  urls <- c(urls, paste0("http://", c("x.example", "127.0.0.1.x.example", "localhost@x.example")))
  for (url in c(urls, "file:///etc/passwd")) {
    expect_failure(survey_client(url, "secret"), "must begin with https")
  }
  for (key in c("se cret", "secret\nsecret", "secr\u00e9t", "secret\001")) {
    error <- error_of(survey_client("https://x.example", key))
    expect_match(conditionMessage(error), "has a character that no key has")
    expect_false(grepl("sec", paste(capture.output(print(error), str(error)), collapse = "")))
  }
  for (url in c("https://x.example/api/v1/", "https://x.example/", " https://x.example\r\n")) {
    Sys.setenv(SURVEY_EXPORT_URL = url, SURVEY_EXPORT_KEY = " secret\r\n")
    expect_identical(survey_client()$url, "https://x.example")
  }
})

test_that("nothing shows or saves the key", {
  client <- demo()
  key <- setting("KEY")
  save(client, file = file <- tempfile(), ascii = TRUE, compress = FALSE)
  errors <- list(
    error_of(survey_responses(client, "none")),
    error_of(survey_list(survey_client("http://127.0.0.1:1", key))),
    error_of(survey_responses(faulty("401"), DEMO))
  )
  shown <- capture.output(
    print(client), str(client), print(unclass(client)), dput(client), str(errors), print(errors)
  )
  expect_false(any(grepl(key, c(shown, readLines(file)), fixed = TRUE)))
  trace <- run_r(c(
    "options(error = quote({ traceback(3, max.lines = 99); q(status = 1) }))",
    "client <- survey_client(setting('URL'), setting('KEY'))",
    "survey_labelled(client, 'none')"
  ))
  expect_match(paste(trace, collapse = "\n"), "request(client", fixed = TRUE)
  expect_false(any(grepl(key, trace, fixed = TRUE)))

  client$id <- "of another session"
  expect_failure(survey_list(client), "in this R session")
})

test_that("requests are tried again, but not without end", {
  expect_identical(nrow(survey_list(faulty("503", "429", "502", "504", "520", "529"))), 7L)
  expect_identical(requests(), 7)
  error <- error_of(survey_list(faulty(rep("503", 9))))
  expect_identical(list(conditionMessage(error), error$status), list("busy", 503L))
  expect_identical(requests(), 7)
  for (status in c(401L, 404L, 500L)) {
    expect_identical(error_of(survey_list(faulty(status)))$status, status)
    expect_identical(requests(), 1)
  }
})

test_that("no response fills the memory, and no text of others controls a terminal", {
  invisible(gc(reset = TRUE))
  for (fault in c("flood-401", "flood-200", "many")) {
    expect_s3_class(error_of(survey_list(faulty(fault))), "survey_export_error")
    expect_identical(requests(), 1)
  }
  expect_lt(sum(gc()[, 6]), 400)
  expect_identical(conditionMessage(error_of(survey_list(faulty("escape")))), "\ufffd[31m\ufffd")
})

test_that("something else than the service's JSON is an error of this package", {
  expect_failure(survey_list(faulty("other")), "something else than surveyexport expects")
  expect_failure(survey_list(faulty("utf16")), "no JSON")
  expect_identical(requests(), 1)
  response <- httr2::response(headers = list("X-Total-Count" = "many"))
  expect_failure(surveyexport:::count_of(NULL, response), "without its number")
})

test_that("the user's options change nothing", {
  old <- options(scipen = -9, OutDec = ",", digits = 3)
  on.exit(options(old))
  stata <- surveyexport:::PROGRAMS$stata
  expect_identical(surveyexport:::unique_names(c("a.b", "a_b"), stata), c("a_b_2", "a_b"))
  expect_identical(survey_summary(demo(), DEMO)$responses, 3221)
})

test_that("the Retry-After can be a date, and is bounded", {
  for (fault in c("date-0", "date-1")) expect_identical(nrow(survey_list(faulty(fault))), 7L)
  error_of(survey_list(faulty("date-9999")))
  expect_identical(requests(), 1)
})

test_that("a transfer that breaks or ends early is tried again", {
  for (fault in c("cut-100", "shorten-100")) {
    expect_identical(survey_list(faulty(fault)), survey_list(demo()))
    expect_identical(survey_codebook(faulty(fault), DEMO), survey_codebook(demo(), DEMO))
  }
})

test_that("a web page and a redirect are errors, and no key is sent elsewhere", {
  page <- "HTTP status 200, and no message of the service: check its URL"
  expect_failure(survey_list(faulty("page")), page)
  moved <- "HTTP status 302, moved to https://x.example/api/v1/surveys, "
  expect_failure(survey_list(faulty("moved")), moved, fixed = TRUE)
  expect_identical(requests(), 1)
})

test_that("an address that was never reached fails at once", {
  skip_without_service()
  of_tls <- sub("http:", "https:", setting("URL"))
  for (url in c("http://127.0.0.1:1", "https://nowhere.invalid", of_tls)) {
    error <- error_of(survey_list(survey_client(url, "secret")))
    reason <- paste0("^The request to ", url, " failed: .*(connect|resolve|SSL|TLS)")
    expect_match(conditionMessage(error), reason)
    expect_true(all(is.na(error[c("status", "code", "request_id")])))
  }
})
