new_folder <- function() {
  folder <- tempfile("downloads")
  dir.create(folder)
  folder
}

# Downloads the beginning of a file. Returns where it is.
interrupt <- function(path) {
  error <- error_of(survey_download(faulty("pass", "cut-3500", "401"), DEMO, path))
  expect_identical(error$status, 401L)
  file.path(dir(dirname(path), "part$", full.names = TRUE), "0")
}

test_that("a download that breaks is resumed, and is the file of the service", {
  path <- file.path(new_folder(), "r.csv")
  client <- faulty("pass", "cut-50", "cut-3000", "503", "cut-70000", "shorten-9000")
  expect_identical(survey_download(client, DEMO, path, metadata = c("cluster", "a,\n\"b\"")), path)
  expect_gte(requests(), 7)
  query <- "&metadata=cluster&metadata=a,%0A%22b%22"
  expect_bytes(bytes_of(path), body_of("/csv", DEMO, query = query))
  expect_identical(dir(dirname(path)), "r.csv")

  # Each time after a response whose question_ref is hard to write.
  path <- file.path(new_folder(), "r.csv.gz")
  survey_download(faulty("pass", paste0("cut-", c(9:13) * 10000), key = "HARD_KEY"), HARD, path)
  expect_bytes(memDecompress(bytes_of(path), "gzip"), body_of("/csv", HARD, "HARD_KEY"))
})

test_that("a program that was stopped anywhere continues the file", {
  path <- file.path(new_folder(), "r.csv")
  body <- body_of("/csv", DEMO)
  text <- rawToChar(body)
  for (length in c(0, 100, 165, 3000, 3001, 90001, length(body) - 1, length(body))) {
    part <- interrupt(path)
    # What is there is kept, so the altered answer shows that it was continued.
    altered <- charToRaw(sub("Ndiyo", "NDIYO", substr(text, 1, 3000), fixed = TRUE))
    altered <- c(altered, charToRaw(text)[-seq_along(altered)])
    writeBin(head(altered, length), part)
    survey_download(faulty("pass"), DEMO, path)
    expect_bytes(bytes_of(path), if (length < 3000) body else altered)
    expect_identical(dir(dirname(path)), "r.csv")
  }
})

test_that("what is no part of the file, or has another number of responses, starts again", {
  body <- body_of("/csv", DEMO)
  lines <- strsplit(rawToChar(body), "\n")[[1]]
  without_one <- charToRaw(paste0(c(lines[1:20], lines[22:40]), "\n", collapse = ""))
  altered <- c(body[1:3000], raw(99), charToRaw("\n"))
  parts <- list(raw(5000), charToRaw("<html>\n<body>\n"), altered, without_one)
  for (part in parts) {
    path <- file.path(new_folder(), "r.csv")
    writeBin(part, interrupt(path))
    survey_download(faulty("pass"), DEMO, path)
    expect_bytes(bytes_of(path), body)
  }
})

test_that("wide files and workbooks start again", {
  expected <- body_of("/csv", DEMO, query = "&layout=wide&value=label&bom=true")
  workbook <- body_of("/xlsx", DEMO, query = "&codebook=true")
  after_a_record <- which(expected == charToRaw("\n"))[[99]]
  for (fault in c("cut-5000", "shorten-5000", paste0("shorten-", after_a_record))) {
    path <- file.path(new_folder(), "w.csv.gz")
    survey_download(faulty("pass", fault), DEMO, path, layout = "wide", value = "label", bom = TRUE)
    expect_bytes(memDecompress(bytes_of(path), "gzip"), expected)
    path <- file.path(new_folder(), "r.xlsx")
    survey_download(faulty("pass", fault), DEMO, path, codebook = TRUE)
    expect_bytes(bytes_of(path), workbook)
  }
})

test_that("a failed download keeps the earlier file, and another selection does not continue it", {
  path <- file.path(new_folder(), "r.csv")
  writeLines("earlier", path)
  interrupt(path)
  expect_identical(readLines(path), "earlier")
  survey_download(demo(), DEMO, path, since = "2026-02-01")
  expect_bytes(bytes_of(path), body_of("/csv", DEMO, query = "&since=2026-02-01"))
  expect_length(dir(dirname(path)), 2)
  survey_download(demo(), DEMO, path, userid = "nobody")
  expect_bytes(bytes_of(path), body_of("/csv", DEMO, query = "&userid=nobody"))
})

test_that("other names and surveys are refused, and leave nothing", {
  folder <- new_folder()
  for (name in c("r", "r.txt", "r.gz", "r.xlsx.gz", "r.ndjson")) {
    expect_failure(survey_download(demo(), DEMO, file.path(folder, name)), "must end in")
  }
  expect_failure(survey_download(demo(), DEMO, file.path(folder, "no/r.csv")), "not exist")
  for (name in c("r.csv", "r.xlsx")) {
    error <- error_of(survey_download(demo(), "none", file.path(folder, name)))
    expect_identical(error$code, "no_responses")
  }
  expect_identical(dir(folder), character())
})

test_that("progress is shown", {
  path <- file.path(new_folder(), "r.csv")
  shown <- capture.output(survey_download(demo(), DEMO, path, progress = TRUE), type = "message")
  expect_match(paste(shown, collapse = ""), "[0-9.]+ MB $")
})
