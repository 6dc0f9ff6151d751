# The service with a key, its errors, and requests. No other file knows httr2.

# The key of each client, and whether it ever reached the service. No saved workspace has it.
sessions <- new.env(parent = emptyenv())

# The bytes of the largest JSON, error or record that is read. The service's have at most 16 MiB.
LARGEST_JSON <- 2^25

survey_client <- function(url = NULL, key = NULL) {
  url <- setting("URL", url, "SURVEY_EXPORT_URL")
  key <- setting("key", key, "SURVEY_EXPORT_KEY")
  host <- "https://[^/?#@\\s]+|http://(localhost|127(\\.[0-9]+){3}|\\[::1\\])(:[0-9]+)?"
  if (!grepl(sprintf("^(%s)(/[^?#\\s]*)?$", host), url, perl = TRUE)) {
    fail(
      "The URL of the service must begin with https://, ",
      "and have no user name, query or fragment."
    )
  }
  if (!grepl("^[!-~]+$", key, perl = TRUE)) fail("The key has a character that no key has.")

  id <- basename(tempfile("client"))
  sessions[[id]] <- list2env(list(key = key, is_reached = FALSE, is_error = FALSE))
  structure(list(url = sub("(/api/v1)?/*$", "", url), id = id), class = "survey_client")
}

print.survey_client <- function(x, ...) {
  cat("<survey_client> ", x$url, "\n", sep = "")
  invisible(x)
}

setting <- function(what, value, name) {
  if (is.null(value)) value <- Sys.getenv(name)
  if (!is.character(value) || length(value) != 1 || is.na(value) || !grepl("\\S", value)) {
    fail("Pass the ", what, " as a text, or set the environment variable ", name, ".")
  }
  trimws(value)
}

# Raises an error. `retry_after` is the seconds until another attempt: NA if the service did not
# send them, Inf if it would fail too.
fail <- function(..., response = NULL, retry_after = Inf) {
  error <- list(
    message = printable(paste0(...)),
    call = NULL,
    status = if (is.null(response)) NA_integer_ else httr2::resp_status(response),
    code = header(response, "X-Error-Code"),
    request_id = header(response, "X-Request-Id"),
    retry_after = retry_after
  )
  stop(structure(error, class = c("survey_export_error", "error", "condition")))
}

# A text without what a terminal would obey: control characters, line separators, and marks of the
# writing direction.
printable <- function(text) {
  marks <- "\\x{61c}\\x{200e}\\x{200f}\\x{2028}-\\x{202e}\\x{2066}-\\x{2069}"
  control <- sprintf("(*UTF)[\\x01-\\x08\\x0b-\\x1f\\x7f-\\x9f%s]", marks)
  gsub(control, "\ufffd", enc2utf8(text), perl = TRUE)
}

# Raises the error of a transfer that broke, or is not what the service sends. It is tried again.
broken <- function(...) fail(..., retry_after = NA)

header <- function(response, name) {
  value <- if (!is.null(response)) httr2::resp_header(response, name)
  if (is.null(value)) NA_character_ else value
}

# What to do about an error, by its code.
ADVICE <- c(
  no_responses = ". Compare the name with survey_list(); or nobody has responded yet.",
  invalid_token = " Check the key: it may be incomplete, or have expired."
)

# Waits before another attempt, or raises the error of the last one.
wait <- function(error, failures) {
  seconds <- error$retry_after
  if (is.na(seconds)) {
    random <- as.numeric(Sys.time()) %% 1 # leaves R's seed alone
    seconds <- 2^(failures - 2) * (0.8 + 0.2 * random)
  }
  if (failures == 7 || seconds > 600) stop(error)

  if (interactive()) {
    message("\ntrying again in ", round(seconds), " s (", conditionMessage(error), ")")
  }
  Sys.sleep(max(0, seconds))
}

# What a function makes of a response's file. Both are tried again if the transfer breaks. Without a
# file, the response becomes memory.
request <- function(
  client, path, parameters, read, file = tempfile("response"), progress = FALSE
) {
  limit <- if (missing(file)) LARGEST_JSON else Inf
  on.exit(if (missing(file)) unlink(file))
  for (failures in 1:7) {
    error <- tryCatch(
      {
        response <- fetch(client, path, parameters, file, progress, limit)
        return(tryCatch(read(file, response), error = as_ours))
      },
      survey_export_error = identity
    )
    wait(error, failures)
  }
}

# Raises an error as one of this package's.
as_ours <- function(error) {
  if (inherits(error, "survey_export_error")) stop(error)
  fail("The service returned something else than surveyexport expects: ", conditionMessage(error))
}

# Saves the body of a response in a file, and returns the response. Nothing is tried again.
fetch <- function(client, path, parameters, file, progress = FALSE, limit = Inf) {
  session <- if (inherits(client, "survey_client")) sessions[[client$id]]
  if (is.null(session)) {
    fail("The first argument must be what survey_client() returned, in this R session.")
  }

  request <- new_request(client, session, path, parameters)
  request <- httr2::req_options(
    request,
    noprogress = FALSE,
    xferinfofunction = function(down, up) {
      if (progress) cat(sprintf("\r%.1f MB ", down[[2]] / 1e6), file = stderr())
      # The size of a file that arrives compressed is known from the file alone.
      !file.exists(file) || file.size(file) <= if (session$is_error) LARGEST_JSON else limit
    }
  )
  response <- tryCatch(httr2::req_perform(request, path = file), error = identity)
  if (progress) cat("\n", file = stderr())
  if (inherits(response, "error")) {
    cause <- if (is.null(response$parent)) response else response$parent
    reason <- gsub("\\s+", " ", conditionMessage(cause))
    # A wrong address stays wrong, a full disk full, and a response too large.
    is_final <- !session$is_reached || grepl("Fail\\w+ (writing|to open)|abort", reason)
    retry_after <- if (is_final) Inf else NA
    fail("The request to ", client$url, " failed: ", reason, retry_after = retry_after)
  }

  is_page <- startsWith(header(response, "Content-Type"), "text/html") %in% TRUE
  if (httr2::resp_status(response) %/% 100 != 2 || is_page) fail_as(response, file)
  response
}

new_request <- function(client, session, path, parameters) {
  authorization <- paste("Bearer", session$key)
  httr2::request(paste0(client$url, "/api/v1", path)) |>
    httr2::req_url_query(!!!single(parameters)) |>
    httr2::req_headers(Authorization = authorization, Prefer = "handling=strict") |>
    httr2::req_user_agent(paste0("survey-export-r/", getNamespaceVersion("surveyexport"))) |>
    httr2::req_error(is_error = function(response) FALSE) |>
    # httr2 0.2 would wait even after its only attempt.
    httr2::req_retry(
      1, is_transient = function(response) FALSE, backoff = function(failures) 0
    ) |>
    httr2::req_options(
      connecttimeout = 15,
      # The service lets a wide file wait up to two minutes for its database.
      low_speed_limit = 1,
      low_speed_time = 150,
      followlocation = FALSE,
      verbose = TRUE,
      debugfunction = function(type, bytes) {
        if (type != 1) return() # no header of the response
        session$is_reached <- TRUE
        text <- rawToChar(bytes)
        if (startsWith(text, "HTTP/")) session$is_error <- !grepl("^HTTP/\\S+ 2", text)
        if (grepl("^content-type: *text/html", text, TRUE)) session$is_error <- TRUE
      }
    )
}

# Raises the error that a response is, whether it comes from the service or from a proxy.
fail_as <- function(response, file) {
  on.exit(unlink(file))
  status <- httr2::resp_status(response)
  moved <- if (status %/% 100 == 3) {
    paste(", moved to", sub("\\?.*", "", header(response, "Location")))
  }
  message <- tryCatch(
    text_of(members(read_members(file)[["error"]])[["message"]]),
    error = function(error) {
      paste0("HTTP status ", status, moved, ", and no message of the service: check its URL")
    }
  )
  advice <- ADVICE[names(ADVICE) %in% header(response, "X-Error-Code")]
  is_busy <- status %in% c(429, 502:504, 520:529)
  seconds <- tryCatch(
    suppressWarnings(httr2::resp_retry_after(response)),
    error = function(error) NA # a date that cannot be read
  )
  fail(message, advice, response = response, retry_after = if (is_busy) seconds else Inf)
}
