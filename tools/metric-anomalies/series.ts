/** From raw samples of many series to a few courses over time: rates of counters, means of gauges. */

export interface RawSeries {
  metric: Record<string, string>;
  /** `[seconds, "value"]` */
  values: [number, string][];
}

export interface Course {
  name: string;
  /** Labels that tell this course from others of the metric. */
  labels: Record<string, string>;
  /** `rate`: a second; `mean`: of what was observed (a sum by its count); `value`: as it is, averaged over pods. */
  kind: "rate" | "mean" | "value";
  /** By time in seconds. */
  points: Map<number, number>;
}

/** Labels that differ from pod to pod, from scrape to scrape, or that say the same as others. */
const VOLATILE = new Set([
  "__name__",
  "pod",
  "uid",
  "instance",
  "container_id",
  "id",
  "image",
  "image_id",
  "image_spec",
  "name",
  "node",
  "host_ip",
  "pod_ip",
  "ip",
  "job",
  "metrics_path",
  "endpoint",
  "cpu",
  "interface",
  "device",
  "prometheus",
  "pod_template_hash",
]);

/** Clocks, identities and descriptions: their values mean nothing beside each other. */
const MEANINGLESS =
  /_(created|info|labels|bucket|owner|ips|restart_policy|resource_version|hash)$|timestamp|last_seen|_time(_seconds)?$|_state_started$/;

/**
 * @param subject labels that name what is asked about: they say nothing new
 */
export function coursesOf(series: readonly RawSeries[], subject: (label: string, value: string) => boolean): Course[] {
  const groups = new Map<string, { course: Course; counts: Map<number, number> }>();
  for (const { metric, values } of series) {
    const name = metric.__name__ ?? "";
    if (name === "" || MEANINGLESS.test(name)) continue;
    const counter = /_(total|count|sum)$/.test(name);
    const labels = Object.fromEntries(
      Object.entries(metric)
        .filter(([label, value]) => !VOLATILE.has(label) && value !== "" && !subject(label, value))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    const key = `${name} ${JSON.stringify(labels)}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { course: { name, labels, kind: counter ? "rate" : "value", points: new Map() }, counts: new Map() };
      groups.set(key, group);
    }
    for (const [time, value] of counter ? rates(values) : numbers(values)) {
      group.course.points.set(time, (group.course.points.get(time) ?? 0) + value);
      group.counts.set(time, (group.counts.get(time) ?? 0) + 1);
    }
  }
  for (const { course, counts } of groups.values()) {
    if (course.kind !== "value") continue;
    for (const [time, count] of counts) course.points.set(time, course.points.get(time)! / count);
  }
  return means([...groups.values()].map(({ course }) => course));
}

function numbers(values: RawSeries["values"]): [number, number][] {
  return values
    .map(([time, value]): [number, number] => [time, Number(value)])
    .filter(([, value]) => Number.isFinite(value));
}

/** Increase a second from one sample to the next; a counter that falls began anew at zero. */
function rates(values: RawSeries["values"]): [number, number][] {
  const found: [number, number][] = [];
  const all = numbers(values);
  for (let i = 1; i < all.length; i++) {
    const [[before, old], [time, value]] = [all[i - 1]!, all[i]!];
    found.push([time, (value < old ? value : value - old) / (time - before)]);
  }
  return found;
}

/** `x_sum` beside `x_count` becomes the mean of what was observed. */
function means(courses: readonly Course[]): Course[] {
  const key = (name: string, course: Course) => `${name} ${JSON.stringify(course.labels)}`;
  const counts = new Map(courses.map((one) => [key(one.name, one), one]));
  return courses.map((course) => {
    if (!course.name.endsWith("_sum")) return course;
    const base = course.name.slice(0, -"_sum".length);
    const count = counts.get(key(`${base}_count`, course));
    if (count === undefined) return course;
    const points = new Map<number, number>();
    for (const [time, sum] of course.points) {
      const seen = count.points.get(time) ?? 0;
      if (seen > 0) points.set(time, sum / seen);
    }
    return { ...course, name: base, kind: "mean" as const, points };
  });
}
