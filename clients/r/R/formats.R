# CSV files in the service's dialect, and JSON. R's readers take a missing value, which is an empty
# cell, and an empty text, which is "", for the same, and have none for JSON.

# Calls a function with the bytes of a CSV file, in blocks of whole records, and the positions at
# which their cells end. Returns how many bytes the whole records have.
read_blocks <- function(file, each, columns = 0) {
  connection <- gzfile(file, "rb") # also if it is not compressed
  on.exit(close(connection))
  end <- 0
  rest <- raw()
  repeat {
    piece <- readBin(connection, "raw", 2^22)
    if (length(piece) == 0) break
    bytes <- c(rest, piece)
    find <- function(character) grepRaw(character, bytes, fixed = TRUE, all = TRUE)
    ends <- sort(c(find(","), find("\n")))
    ends <- ends[findInterval(ends, find('"')) %% 2 == 0]
    last <- which(bytes[ends] == charToRaw("\n"))
    whole <- max(0, ends[last])
    if (whole > 0) {
      if (columns == 0) columns <- last[[1]]
      if (!identical(last, seq_along(last) * columns)) {
        broken("the file has a record of another length than its header")
      }
      each(bytes[seq_len(whole)], ends[seq_len(max(last))])
    }
    end <- end + whole
    rest <- bytes[seq_along(bytes) > whole]
    is_large <- length(rest) > LARGEST_JSON || whole == 0 && length(ends) > 2^20
    if (is_large) broken("the file has a record that is too large")
  }
  end
}

# The values of cells, given their bytes and where each one ends.
values <- function(bytes, ends) {
  found <- readChar(bytes, rbind(diff(c(0L, ends)) - 1L, 1L), useBytes = TRUE)[c(TRUE, FALSE)]
  Encoding(found) <- "UTF-8"
  found[found == ""] <- NA
  quoted <- which(startsWith(found, '"'))
  found[quoted] <- gsub('""', '"', substr(found[quoted], 2, nchar(found[quoted]) - 1), fixed = TRUE)
  found
}

# A CSV file, in one part or several, as a data frame.
read_csv <- function(files, ...) {
  blocks <- list()
  for (file in files) {
    end <- read_blocks(file, function(bytes, ends) {
      columns <- if (length(blocks) > 0) nrow(blocks[[1]]) else match(charToRaw("\n"), bytes[ends])
      blocks[[length(blocks) + 1]] <<- matrix(values(bytes, ends), columns)
    })
  }
  is_short <- length(files) == 1 && end < file.size(files)
  if (length(blocks) == 0 || is_short) broken("the file ends early")

  names <- sub("^\ufeff", "", blocks[[1]][, 1])
  data_frame(names, function(column) {
    unlist(lapply(blocks, function(block) block[column, ]))[-1]
  })
}

# A table with these columns, given a function that returns the values of one, by its number.
data_frame <- function(names, values_of) {
  columns <- structure(lapply(seq_along(names), values_of), names = names)
  tibble::new_tibble(columns, nrow = length(columns[[1]]))
}

# A table whose counts are numbers.
counted <- function(table) {
  counts <- intersect(names(table), c("responses", "participants", "records"))
  table[counts] <- lapply(table[counts], as.numeric)
  table
}

# JSON objects, whose members are JSON, as a table.
table_of <- function(objects, names) {
  rows <- lapply(objects, members)
  counted(data_frame(names, function(column) {
    vapply(rows, function(row) text_of(row[[names[[column]]]]), "")
  }))
}

# The members of the JSON in a file.
read_members <- function(file, ...) {
  bytes <- readBin(file, "raw", file.size(file))
  # A value takes up to 100 times the memory of its text.
  values <- lapply(c("[", "{", ","), grepRaw, bytes, fixed = TRUE, all = TRUE)
  if (sum(lengths(values)) > 2^21) fail("The service returned more values than it ever has.")
  if (any(bytes == 0)) fail("What was received is no JSON.")
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  members(text)
}

# The members of a JSON object or array, each as JSON.
members <- function(json) {
  bytes <- json
  Encoding(bytes) <- "bytes"
  found <- gregexpr('"(?:[^"\\\\]++|\\\\.)*+"|[][{}:,]', bytes, perl = TRUE, useBytes = TRUE)[[1]]
  token <- substring(bytes, found, found)
  depth <- cumsum(token %in% c("[", "{")) - cumsum(token %in% c("]", "}"))
  if (!token[[1]] %in% c("[", "{") || depth[[length(depth)]] != 0) {
    broken("what was received is no JSON, or not all of it")
  }

  cuts <- c(found[depth == 1 & token %in% c("[", "{", ",", ":")], found[[length(found)]])
  parts <- substring(bytes, cuts[-length(cuts)] + 1, cuts[-1] - 1)
  Encoding(parts) <- "UTF-8"
  parts <- trimws(parts)
  if (identical(parts, "")) return(character())
  if (token[[1]] == "[") return(parts)
  structure(parts[c(FALSE, TRUE)], names = text_of(parts[c(TRUE, FALSE)]))
}

# The texts that JSON strings are. Null is NA, and any other value stays JSON.
text_of <- function(json) {
  json[json == "null"] <- NA
  quoted <- which(startsWith(json, '"'))
  inner <- substr(json[quoted], 2, nchar(json[quoted]) - 1)
  found <- gregexpr("\\\\(?:u[0-9A-Fa-f]{4}|.)", inner, perl = TRUE)
  regmatches(inner, found) <- lapply(regmatches(inner, found), function(escapes) {
    code <- intToUtf8(strtoi(substr(escapes, 3, 6), 16), multiple = TRUE)
    ifelse(nchar(escapes) == 6, code, chartr("bfnrt", "\b\f\n\r\t", substr(escapes, 2, 2)))
  })
  json[quoted] <- inner
  json
}
