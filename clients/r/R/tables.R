# Tables. Every column is text but those of counts; a missing value is NA.

survey_list <- function(client = NULL) {
  names <- c(
    "id", "survey_name", "shortcode", "title", "formid", "created", "metadata",
    "translation_conf", "off_time", "timeouts"
  )
  request(client, "/surveys", list(), read = function(...) table_of(read_members(...), names))
}

survey_codebook <- function(client = NULL, survey = NULL, ...) {
  parameters <- parameters_of(survey, list(...), format = "csv")
  counted(request(client, "/responses/questions", parameters, read_csv))
}

survey_answers <- function(client = NULL, survey = NULL, ..., numbers = FALSE) {
  parameters <- parameters_of(survey, list(...), format = "csv")
  table <- counted(request(client, "/responses/answers", parameters, read_csv))
  if (!isTRUE(numbers)) return(table)

  parameters[c("format", "numbers")] <- c("json", "true")
  read <- function(...) {
    found <- table_of(members(read_members(...)[["questions"]]), c("column", "numbers"))
    found <- found[!is.na(found$numbers), ]
    columns <- c("records", "min", "q1", "median", "q3", "max", "sum")
    found[columns] <- table_of(found$numbers, columns)
    found
  }
  numbers <- request(client, "/responses/answers", parameters, read)
  structure(table, numbers = numbers)
}

survey_summary <- function(client = NULL, survey = NULL, ...) {
  parameters <- parameters_of(survey, list(...))
  request(client, "/responses/summary", parameters, read = function(...) {
    summary <- read_members(...)
    entries <- lapply(summary[c("days", "forms", "left_out_by")], members)
    stops <- if ("stops" %in% names(summary)) members(summary[["stops"]])
    left_out_by <- table_of(entries$left_out_by, c("rule", "name", "participants"))
    left_out_by$userids <- lapply(entries$left_out_by, function(entry) {
      text_of(members(members(entry)[["userids"]]))
    })
    list(
      responses = as.numeric(summary[["responses"]]),
      participants = as.numeric(summary[["participants"]]),
      first = text_of(summary[["first"]]),
      last = text_of(summary[["last"]]),
      days = table_of(entries$days, c("day", "responses", "participants")),
      forms = table_of(entries$forms, c("shortcode", "responses", "participants")),
      left_out = as.numeric(summary[["left_out"]]),
      left_out_by = left_out_by,
      stops = table_of(stops, c("shortcode", "question_ref", "participants"))
    )
  })
}

survey_responses <- function(client = NULL, survey = NULL, ..., progress = interactive()) {
  folder <- tempfile("responses")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  parameters <- parameters_of(survey, list(...), layout = "long")
  read_csv(download_csv(client, parameters, folder, progress))
}

survey_wide <- function(client = NULL, survey = NULL, ..., progress = interactive()) {
  file <- tempfile("responses")
  on.exit(unlink(file))
  download_wide(client, parameters_of(survey, list(...), layout = "wide"), file, progress)
}
