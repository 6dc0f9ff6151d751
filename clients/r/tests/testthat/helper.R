# The service that `npm run test:r` starts, with the demo data, and with a survey whose texts are
# hard to read. Without it, as on CRAN, all tests that need it are skipped.

setting <- function(name) Sys.getenv(paste0("SURVEY_EXPORT_TEST_", name))
DEMO <- "Health & Habits 2026 \u2013 Sa\u00fade"
EMPTY <- "Pilot study (nobody asked yet)"
HARD <- "Hard to read/\u00fc & \u201c\u00e9\u201d"

skip_without_service <- function() {
  skip_if(setting("URL") == "", "SURVEY_EXPORT_TEST_URL is not set")
}
client_of <- function(url = "URL", key = "KEY") {
  skip_without_service()
  survey_client(setting(url), setting(key))
}
demo <- function() client_of()
hard <- function() client_of(key = "HARD_KEY")

# A client through a proxy with these faults, one for each of the next requests. See
# test/clients/run.ts.
faulty <- function(..., key = "KEY") {
  client <- client_of("PROXY", key)
  requests(...)
  client
}
# How many requests there were since the last faults were set.
requests <- function(...) {
  url <- paste0(sub("/$", "", setting("PROXY")), "/faults/", paste(c(...), collapse = ","))
  as.numeric(readLines(url, warn = FALSE))
}

# The body of a response, without the package.
body_of <- function(path, survey, key = "KEY", query = "") {
  skip_without_service()
  name <- utils::URLencode(survey, reserved = TRUE)
  url <- paste0(setting("URL"), "/api/v1/responses", path, "?survey=", name, query)
  connection <- url(url, "rb", headers = c(Authorization = paste("Bearer", setting(key))))
  on.exit(close(connection))
  bytes <- raw()
  while (length(piece <- readBin(connection, "raw", 2^20)) > 0) bytes <- c(bytes, piece)
  bytes
}
# Unlike expect_identical, does not look for the differences of megabytes.
expect_bytes <- function(found, expected) expect_true(identical(found, expected))
bytes_of <- function(path) readBin(path, "raw", file.size(path))

# A data frame in the service's dialect.
as_csv <- function(table) {
  cells <- rbind(names(table), do.call(cbind, unname(as.list(table))))
  needs_quotes <- !is.na(cells) & (cells == "" | grepl('[",\r\n]', cells))
  cells[needs_quotes] <- paste0('"', gsub('"', '""', cells[needs_quotes], fixed = TRUE), '"')
  cells[is.na(cells)] <- ""
  charToRaw(enc2utf8(paste0(apply(cells, 1, paste, collapse = ","), "\n", collapse = "")))
}

# An error, which has to be one of this package's.
error_of <- function(code) tryCatch(code, survey_export_error = identity)
expect_failure <- function(code, message, ...) {
  error <- error_of(code)
  expect_match(conditionMessage(error), message, ...)
}

CALLS <- list(survey_responses, survey_wide, survey_labelled, survey_codebook, survey_answers)

# Runs a program in another R, which has the package alone.
run_r <- function(code, ...) {
  code <- c("library(surveyexport)", "options(warn = 2)", "setting <-", deparse(setting), code)
  writeLines(code, file <- tempfile(fileext = ".R"), useBytes = TRUE)
  program <- file.path(R.home("bin"), "Rscript")
  suppressWarnings(system2(program, c("--vanilla", file), stdout = TRUE, stderr = TRUE, ...))
}
