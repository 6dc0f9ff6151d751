# The parameters of requests, as the caller gives them and as the service reads them.

# The values of each parameter as texts, without those that are NULL. Further arguments are this
# package's own.
parameters_of <- function(survey, given, ...) {
  given <- c(list(survey = survey), given)
  if (is.null(survey)) fail("The first argument is the client, the second the name of a survey.")
  if (!all(nzchar(names(given)))) {
    fail('Parameters need a name and a value, such as since = "2026-03-01".')
  }
  own <- c("after", "count", "format", "pageSize", names(list(...)))
  wrong <- intersect(names(given), own)
  if (length(wrong) > 0) fail(wrong[[1]], " is not a parameter of this function.")
  given <- Filter(Negate(is.null), c(given, list(...)))
  Map(texts, names(given), given)
}

# A parameter's values as texts. No value, or a missing one, would select everybody, or nobody.
texts <- function(name, value) {
  if (inherits(value, "POSIXt")) value <- as.POSIXct(value)
  if (length(value) == 0 || (is.atomic(value) && anyNA(value))) {
    fail(
      name, " has no value, or one that is NA: ",
      "remove every NA, or pass NULL to leave ", name, " out."
    )
  }
  if (inherits(value, "POSIXt")) return(format(value + 5e-7, "%Y-%m-%dT%H:%M:%OS6Z", tz = "UTC"))

  is_text <- is.character(value) && !is.object(value)
  if (inherits(value, "Date") || is.factor(value) || is_text) {
    value <- as.character(value)
    # Without a locale, as with cron, texts are in UTF-8 too, but R does not know it.
    Encoding(value)[validUTF8(value) & Encoding(value) == "unknown"] <- "UTF-8"
    return(enc2utf8(value))
  }

  if (is.logical(value)) return(ifelse(value, "true", "false"))
  if (!is.numeric(value) || is.object(value) || any(value != trunc(value) | abs(value) >= 2^53)) {
    fail(name, " must be text, a date, a time, or integers of at most 15 digits.")
  }
  sprintf("%.0f", value)
}

# The parameters that select responses, and others that another endpoint has too.
selection_of <- function(parameters, ...) {
  filters <- c("survey", "since", "until", "question_ref", "shortcode", "userid")
  parameters[names(parameters) %in% c(filters, ...)]
}

# One parameter for each value.
single <- function(parameters) {
  structure(as.list(unlist(parameters)), names = rep(names(parameters), lengths(parameters)))
}

# The cursor of a response, given its timestamp, userid, question_ref and surveyid, in base64.
cursor <- function(key) {
  strings <- vapply(key, function(text) {
    codes <- utf8ToInt(text)
    is_special <- codes < 32 | codes %in% utf8ToInt('"\\')
    characters <- intToUtf8(codes, multiple = TRUE)
    paste(ifelse(is_special, sprintf("\\u%04x", codes), characters), collapse = "")
  }, "")
  json <- charToRaw(paste0('[1,"', paste(strings, collapse = '","'), '"]'))
  bits <- unlist(lapply(json, function(byte) rev(as.integer(rawToBits(byte)))))
  sextets <- matrix(c(bits, integer(-length(bits) %% 6)), 6)
  paste(c(LETTERS, letters, 0:9, "-", "_")[colSums(sextets * 2^(5:0)) + 1], collapse = "")
}
