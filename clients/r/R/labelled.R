# The wide table with labels, as SPSS or Stata can have them.

# What the programs allow: SPSS's Command Syntax Reference ("Variable Names", "VARIABLE LABELS",
# "VALUE LABELS"), and Stata's manual ([U] 11.3, and https://www.stata.com/manuals/rlimits.pdf).
# Names and variable labels are limited in a unit, value labels in bytes, given their number.
PROGRAMS <- list(
  spss = list(
    not_in_name = "[^\\pL\\pN._$#@]", # SPSS allows accents too, haven does not
    reserved = "(?i)^(ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH)$",
    same_name = tolower,
    unit = "bytes",
    name_limit = 64,
    label_limit = 255,
    value_limit = function(number) 120,
    variable = function(answers, letter, choices, label) {
      if (length(choices) == 0) return(structure(answers, label = label))
      small <- letters[seq_along(choices)] %in% answers
      values <- c(LETTERS[seq_along(choices)], letters[which(small)])
      haven::labelled(answers, structure(values, names = c(choices, choices[small])), label)
    }
  ),
  stata = list(
    not_in_name = "[^\\pL\\p{Nd}_]|[\\x{80}-\\x{bf}]",
    reserved = paste0(
      "^(aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue",
      "|default|delegate|delete|do|double|else|eltypedef|end|enum|explicit|export|external|float",
      "|for|friend|function|global|goto|if|in|inline|int|local|long|NULL|pragma|protected|quad",
      "|rowvector|short|str[0-9]+|strL|typedef|typename|using|virtual|with)$"
    ),
    same_name = identity,
    unit = "chars",
    name_limit = 32,
    label_limit = 80,
    value_limit = function(number) 32000 %/% number - 1,
    # A text has no value labels.
    variable = function(answers, letter, choices, label) {
      is_listed <- is.na(answers) | letter %in% seq_along(choices)
      if (length(choices) > 0 && all(is_listed)) {
        return(haven::labelled(letter, structure(seq_along(choices), names = choices), label))
      }
      # haven cannot write a missing text, to Stata an empty one, beside one of over 2,045 bytes.
      if (any(nchar(answers, "bytes") > 2045, na.rm = TRUE)) answers[is.na(answers)] <- ""
      structure(answers, label = label)
    }
  )
)

survey_labelled <- function(
  client = NULL, survey = NULL, ..., program = c("spss", "stata"), progress = interactive()
) {
  program <- if (is.character(program)) PROGRAMS[[program[[1]]]]
  if (is.null(program)) fail('program must be "spss" or "stata".')
  if (!requireNamespace("haven", quietly = TRUE)) {
    fail('haven is not installed: run install.packages("haven").')
  }
  parameters <- parameters_of(survey, list(...), layout = "wide")
  described <- c(selection_of(parameters, "columns"), format = "csv")
  codebook <- request(client, "/responses/questions", described, read_csv)
  if (nrow(codebook) > 0) {
    # Responses that arrive from now on are left out. Seconds have at most six decimals.
    newest <- sort(sub("Z", "", codebook$last), decreasing = TRUE, method = "radix")[[1]]
    parameters$until <- paste0(substr(paste0(newest, "000"), 1, 26), "1Z")
  }
  file <- tempfile("responses")
  on.exit(unlink(file))
  answers <- labels <- download_wide(client, parameters, file, progress)
  if (!all(is.na(codebook$choices))) {
    # Versions of a form can list different choices, and the codebook has those of one version. The
    # service finds an answer's label in the answer's own question text.
    parameters$value <- "label"
    labels <- download_wide(client, parameters, file, progress)
  }
  columns <- names(answers)
  are_of_one_time <- identical(lapply(unname(answers), is.na), lapply(unname(labels), is.na))
  if (!are_of_one_time || !all(codebook$column %in% columns)) {
    fail("The survey's responses were edited during the download: try again.")
  }

  names <- unique_names(columns, program)
  data_frame(names, function(number) {
    questions <- codebook[codebook$column == columns[[number]], ]
    label <- paste(unique(questions$question_text), collapse = " / ")
    if (nrow(questions) == 0 && names[[number]] != columns[[number]]) label <- columns[[number]]
    label <- if (nzchar(label)) cut_label(label, program$label_limit, program$unit)

    # The letters of choices are always A, B, C …
    letter <- (match(answers[[number]], c(LETTERS, letters)) - 1L) %% 26L + 1L
    choices <- choices_of(questions)
    if (any(choices[letter] != labels[[number]], na.rm = TRUE)) {
      warning(
        printable(columns[[number]]),
        " has no value labels: a letter stands for different choices.",
        call. = FALSE
      )
      choices <- character()
    }
    limit <- program$value_limit(max(1, length(choices)))
    choices <- vapply(choices, cut_label, "", limit, "bytes", USE.NAMES = FALSE)
    program$variable(answers[[number]], letter, choices, label)
  })
}

# The labels of the choices that the first of these questions lists.
choices_of <- function(questions) {
  listed <- c(questions$choices[!is.na(questions$choices)], "[]")[[1]]
  label_of <- function(choice) text_of(members(choice)[["label"]])
  vapply(members(listed), label_of, "", USE.NAMES = FALSE)
}

# A name that the program allows for each column. Equal names get a number.
unique_names <- function(columns, program) {
  names <- sub("\\.+$", "", gsub(program$not_in_name, "_", columns, perl = TRUE))
  is_wrong <- !grepl("^\\pL", names, perl = TRUE) | grepl(program$reserved, names, perl = TRUE)
  names[is_wrong] <- paste0("v", names[is_wrong])
  taken <- NULL
  numbers <- integer()
  # Columns whose names can stay as they are come first, so that no other column takes their names.
  for (position in order(names != columns)) {
    name <- sub("\\.+$", "", fitting(names[[position]], program$name_limit, program$unit))
    base <- program$same_name(name)
    while (program$same_name(name) %in% taken) {
      numbers[base] <- max(1L, numbers[base], na.rm = TRUE) + 1L
      suffix <- paste0("_", numbers[base])
      limit <- program$name_limit - nchar(suffix)
      name <- paste0(fitting(names[[position]], limit, program$unit), suffix)
    }
    taken <- c(taken, program$same_name(name))
    names[[position]] <- name
  }
  names
}

# A text as one line, which ends with an ellipsis if it had to be cut.
cut_label <- function(text, limit, unit) {
  lines <- strsplit(text, "\\R|[\\x1c-\\x1e]", perl = TRUE)[[1]]
  space <- "[\\s\\x1c-\\x1f]+"
  trimmed <- gsub(sprintf("(*UCP)^%s|%s$", space, space), "", lines, perl = TRUE)
  line <- paste(trimmed, collapse = " ")
  if (nchar(line, unit) <= limit) return(line)
  paste0(fitting(line, limit - nchar("\u2026", unit), unit), "\u2026")
}

# The beginning of a text that is within a limit.
fitting <- function(text, limit, unit) {
  characters <- strsplit(text, "")[[1]]
  paste(characters[cumsum(nchar(characters, unit)) <= limit], collapse = "")
}
