"""What curves are drawn from: buckets and their widths, numbers as they are told, histograms."""
