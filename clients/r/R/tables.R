# Data frames. Every column is text; a missing value is NA.

# See ?survey_list.
survey_list <- function(client) {
  read <- function(file, response) lapply(members(read_text(file)), members)
  rows <- request(client, "/surveys", list(), read)
  names <- c(
    "id", "survey_name", "shortcode", "title", "formid", "created", "metadata",
    "translation_conf", "off_time", "timeouts"
  )
  data_frame(names, function(column) {
    vapply(rows, function(row) text_of(row[[names[[column]]]]), "")
  })
}

# See ?survey_list.
survey_codebook <- function(client, survey, ...) {
  parameters <- parameters_of(survey, list(...), format = "csv")
  request(client, "/responses/questions", parameters, read_csv)
}

# See ?survey_list.
survey_answers <- function(client, survey, ...) {
  parameters <- parameters_of(survey, list(...), format = "csv")
  request(client, "/responses/answers", parameters, read_csv)
}

# See ?survey_responses.
survey_responses <- function(client, survey, ...) {
  folder <- tempfile("responses")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  read_csv(download_csv(client, parameters_of(survey, list(...), layout = "long"), folder))
}

# See ?survey_responses.
survey_wide <- function(client, survey, ...) {
  file <- tempfile("responses")
  on.exit(unlink(file))
  download_wide(client, parameters_of(survey, list(...), layout = "wide"), file)
}
