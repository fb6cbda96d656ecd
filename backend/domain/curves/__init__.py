"""What curves are drawn from, buckets, told numbers and histograms; reading points is in store."""
