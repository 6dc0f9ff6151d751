# Files that get their names when they are complete. Until then, what has arrived is in a folder.
# Each file in it is named for the byte of the whole at which it begins, and counts up to its last
# whole record.

survey_download <- function(
  client = NULL, survey = NULL, path = NULL, ..., progress = interactive()
) {
  parameters <- parameters_of(survey, list(...))
  ending <- if (is.character(path)) regmatches(path, regexpr("\\.(csv|csv\\.gz|xlsx)$", path))
  if (length(ending) != 1) {
    fail("The file's name must end in .csv, .csv.gz or .xlsx. For SPSS, see survey_labelled().")
  }
  path <- path.expand(path)
  if (dir.exists(path)) fail(path, " is a folder.")
  if (!dir.exists(dirname(path))) fail(path, " is in a folder that does not exist.")

  folder <- part_folder(client, path, ending, parameters)
  on.exit({
    if (length(dir(folder)) == 0) unlink(folder, recursive = TRUE)
  })
  whole <- file.path(folder, "whole")
  if (ending == ".xlsx") {
    request(client, "/responses/xlsx", parameters, check_workbook, whole, progress)
  } else {
    if (identical(parameters$layout, "wide")) {
      files <- file.path(folder, "0")
      download_wide(client, parameters, files, progress)
    } else {
      files <- download_csv(client, parameters, folder, progress)
    }
    join(files, whole, if (ending == ".csv") file else gzfile)
  }
  if (!file.rename(whole, path)) fail("The file is complete, but cannot be renamed: ", whole)
  unlink(folder, recursive = TRUE)
  invisible(path)
}

# The folder of a download. One with another key, selection or format does not continue it.
part_folder <- function(client, path, ending, parameters) {
  owner <- request(client, "/key", list(), read_members)
  identity <- deparse(list(client$url, owner[names(owner) != "expires"], ending, parameters))
  bytes <- as.integer(charToRaw(paste(identity, collapse = "\n")))
  checksum <- Reduce(function(sum, byte) (sum * 65599 + byte) %% 2147483647, bytes, 0)
  folder <- sprintf("%s.%08x.part", path, as.integer(checksum))
  dir.create(folder, showWarnings = FALSE)
  if (!dir.exists(folder)) fail("Nothing can be written into the folder ", dirname(path), ".")
  folder
}

# A workbook that ends early has no directory, which is at its end.
check_workbook <- function(file, response) {
  tryCatch(
    close(unz(file, "xl/worksheets/sheet1.xml", "rb")),
    warning = function(warning) broken("the workbook ends early")
  )
}

# Writes the whole records of files into one. R does not notice that a disk is full.
join <- function(files, whole, open) {
  output <- open(whole, "wb")
  sizes <- vapply(files, read_blocks, 0, function(bytes, ends) writeBin(bytes, output))
  close(output)
  written <- read_blocks(whole, function(bytes, ends) NULL)
  if (written != sum(sizes)) fail("The disk is full: ", whole)
}

# Downloads a wide CSV file, and returns its table. It has as many participants as the summary.
download_wide <- function(client, parameters, file, progress = FALSE) {
  selection <- selection_of(parameters, "repeats", "require_metadata", "require_question")
  read <- function(...) as.numeric(read_members(...)[["participants"]])
  expected <- NULL
  for (round in 1:5) {
    table <- request(client, "/responses/csv", parameters, read_csv, file, progress)
    now <- request(client, "/responses/summary", selection, read)
    # While responses are stored, the number is between those of the last round and this one.
    expected <- c(expected[length(expected)], now)
    if (is_among(length(unique(table$userid)), expected)) return(table)
  }
  fail("the file has another number of participants than the summary, five times")
}

is_among <- function(number, others) number >= min(others) && number <= max(others)

# Downloads the CSV file of a selection into a folder, or what is missing of it there. Returns its
# files. They have as many responses as the service counts.
download_csv <- function(client, parameters, folder, progress = FALSE) {
  wrong <- intersect(parameters$omit, KEY)
  if (length(wrong) > 0) fail("omit cannot name ", wrong[[1]], ", by which a download resumes.")
  count <- function(after) {
    counted <- c(selection_of(parameters), count = "true", pageSize = "1", after = after)
    request(client, "/responses", counted, count_of)
  }

  found <- found_in(folder)
  failures <- 0
  repeat {
    before <- found$records
    error <- tryCatch(
      {
        following <- c(parameters, count = "true", after = found$after)
        response <- fetch(client, "/responses/csv", following, found$file, progress)
        expected <- before + count_of(found$file, response)
        NULL
      },
      survey_export_error = identity
    )

    found <- found_in(folder)
    if (is.null(error)) {
      is_whole <- found$records >= expected && length(found$files) > 0
      is_in_one_piece <- length(found$files) == 1 && found$records == expected
      if (is_in_one_piece) return(found$files)
      if (is_whole) {
        # As many as there are now, but for newer ones, of which some may be stored meanwhile.
        left <- count(found$after)
        expected <- count(NULL)
        if (is_among(found$records, expected - c(left, count(found$after)))) return(found$files)
        found <- found_in(emptied(folder))
      }
      # A proxy shortened the file, or responses were deleted. The next request counts what is left.
      wrong <- sprintf("the file has %.0f of %.0f responses", found$records, expected)
      error <- tryCatch(broken(wrong), error = identity)
    }
    failures <- if (found$records > before) 1 else failures + 1
    wait(error, failures)
  }
}

# The number of responses that a response says there are.
count_of <- function(file, response) {
  count <- header(response, "X-Total-Count")
  if (!grepl("^[0-9]+$", count)) {
    fail("The service returned a file without its number of responses.", response = response)
  }
  as.numeric(count)
}

KEY <- c("timestamp", "userid", "question_ref", "surveyid")

# What a folder has of a CSV file: its files, the number of their responses, the cursor of the last
# one, and where the next file goes. Anything else there is removed.
found_in <- function(folder) {
  found <- list(files = NULL, records = 0, after = NULL, file = file.path(folder, "0"))
  names <- NULL
  end <- 0
  read <- function(bytes, ends) {
    is_first <- is.null(names)
    if (is_first) names <<- values(bytes, ends[seq_len(match(charToRaw("\n"), bytes[ends]))])
    if (!all(KEY %in% names)) broken("the file has something else than responses")

    columns <- length(names)
    begin <- c(0L, ends)[[length(ends) + 1 - columns]]
    last <- values(bytes[seq_along(bytes) > begin], ends[ends > begin] - begin)
    found$records <<- found$records + length(ends) / columns - is_first
    found$after <<- if (found$records > 0) cursor(last[match(KEY, names)])
  }

  while (file.exists(found$file)) {
    whole <- tryCatch(read_blocks(found$file, read, length(names)), survey_export_error = identity)
    if (!is.numeric(whole)) return(found_in(emptied(folder)))
    if (whole > 0) found$files <- c(found$files, found$file)
    if (whole == 0 || found$records == 0) break # the header comes again
    end <- end + whole
    found$file <- file.path(folder, sprintf("%.0f", end))
  }
  found
}

emptied <- function(folder) {
  unlink(dir(folder, full.names = TRUE))
  folder
}
