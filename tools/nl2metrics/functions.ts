/** Names that PromQL itself gives a meaning, for the linter. */

export const AGGREGATIONS = new Set(
  "sum min max avg count group stddev stdvar topk bottomk quantile count_values limitk limit_ratio".split(" "),
);

/** Functions that want a range vector. */
export const RANGE_FUNCTIONS = new Set(
  `rate irate increase delta idelta deriv changes resets predict_linear holt_winters double_exponential_smoothing
   avg_over_time min_over_time max_over_time sum_over_time count_over_time quantile_over_time stddev_over_time
   stdvar_over_time last_over_time first_over_time present_over_time absent_over_time mad_over_time ts_of_max_over_time
   ts_of_min_over_time ts_of_last_over_time`.split(/\s+/),
);

export const FUNCTIONS = new Set([
  ...RANGE_FUNCTIONS,
  ...`abs absent acos acosh asin asinh atan atanh ceil clamp clamp_max clamp_min cos cosh day_of_month day_of_week
   day_of_year days_in_month deg exp floor histogram_avg histogram_count histogram_fraction histogram_quantile
   histogram_stddev histogram_stdvar histogram_sum hour info label_join label_replace ln log10 log2 minute month pi rad
   round scalar sgn sin sinh sort sort_by_label sort_by_label_desc sort_desc sqrt tan tanh time timestamp vector year
   start end`.split(/\s+/),
]);

/** Words that are neither a metric nor a function. */
export const KEYWORDS = new Set(
  "and or unless by without on ignoring group_left group_right offset bool atan2 inf nan start end".split(" "),
);

/** Keywords after which a list of label names stands in parentheses. */
export const LABEL_LISTS = new Set("by without on ignoring group_left group_right".split(" "));
