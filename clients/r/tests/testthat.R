library(testthat)
library(surveyexport)

test_check("surveyexport")
