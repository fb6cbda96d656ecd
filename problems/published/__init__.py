"""Published problem sets, from the records that their authors give out to problems of ours."""
