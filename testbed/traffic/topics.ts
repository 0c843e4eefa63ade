/** Topics of a Kafka broker: how far each consumer group is behind, and what the broker's metrics say. */
import type { Exporter, MetricStore, Series } from "../telemetry/metrics.js";
import type { Behaviour, Consumer } from "./behaviour.js";
import type { Process, ProcessTable } from "./processes.js";

export interface Group {
  readonly name: string;
  readonly program: string;
  readonly consumer: Consumer;
  /** Connected members. */
  members: number;
  /** Messages published but not consumed. */
  lag: number;
  /** Messages that its members can take in one tick; a group within its pace is not behind. */
  pace: number;
  consumed: number;
}

/** A topic, with the trace of one recent message: the consumer's spans continue it. */
export interface Topic {
  readonly name: string;
  readonly groups: Map<string, Group>;
  published: number;
  /** Share of recent messages that repeat another one. */
  repeated: number;
  sample?: { traceId: string; spanId: string; values: Map<string, string> };
}

export interface Topics {
  /** The topic as this broker process knows it; a new broker starts with empty ones. */
  topic(broker: Process, name: string): Topic;
  /** Topics that this broker process has. */
  known(broker: Process): Iterable<Topic>;
  /**
   * Appends messages, each `repeats` times more. False when a group that the application declares is `backlogLimit` behind: then the broker
   * throttles the producer beyond its patience, and keeps no more of the group's backlog (see TopicRules).
   */
  publish(topic: Topic, messages: number, repeats: number): boolean;
  readonly exporter: Exporter;
}

/** A consumer that loses its broker closes about one connection in this many seconds while it tries again. */
const RECONNECT_SECONDS = 2;
/** Closures are told of only from the third tick on: one restart of the broker is no closure rate. */
const PATIENT_TICKS = 3;

export function createTopics(
  behaviour: Behaviour,
  namespace: string,
  processes: ProcessTable,
  store: MetricStore,
): Topics {
  const limit = behaviour.topics?.backlogLimit ?? Number.POSITIVE_INFINITY;
  const declared = Object.entries(behaviour.programs).flatMap(([program, { consumes }]) =>
    (consumes ?? []).map((consumer) => ({ program, consumer })),
  );
  const ofBroker = new WeakMap<Process, Map<string, Topic>>();
  const brokers = Object.entries(behaviour.programs)
    .filter(([, program]) => program.role === "broker")
    .map(([name]) => name);
  const handles = new Map<string, Series>();

  function series(name: string, labels: Record<string, string>): Series {
    const key = `${name} ${Object.values(labels).join(" ")}`;
    let handle = handles.get(key);
    if (handle === undefined) {
      handle = store.series({ __name__: name, namespace, ...labels });
      handles.set(key, handle);
    }
    return handle;
  }

  return {
    topic(broker, name) {
      let topics = ofBroker.get(broker);
      if (topics === undefined) {
        topics = new Map();
        ofBroker.set(broker, topics);
      }
      let topic = topics.get(name);
      if (topic === undefined) {
        topic = { name, published: 0, repeated: 0, groups: new Map() };
        for (const { program, consumer } of declared) {
          topic.groups.set(consumer.group, {
            name: consumer.group,
            program,
            consumer,
            members: 0,
            lag: 0,
            pace: 0,
            consumed: 0,
          });
        }
        topics.set(name, topic);
      }
      return topic;
    },
    known: (broker) => ofBroker.get(broker)?.values() ?? [],
    publish(topic, originals, repeats) {
      const messages = originals * (1 + repeats);
      topic.published += messages;
      topic.repeated = repeats / (1 + repeats);
      let accepted = true;
      for (const group of topic.groups.values()) {
        group.lag += messages;
        const bound = limit + group.pace;
        if (group.lag <= bound) continue;
        group.lag = bound;
        accepted = false;
      }
      return accepted;
    },
    exporter: {
      name: "kafka",
      collect(emit) {
        for (const name of brokers) {
          for (const broker of processes.ofProgram(name)) {
            const job = `${behaviour.serviceNamespace}/${broker.service}`;
            emit(series("kafka_brokers", { job }), 1);
            for (const topic of ofBroker.get(broker)?.values() ?? []) {
              emit(series("kafka_topic_partitions", { job, topic: topic.name }), behaviour.topics?.partitions ?? 1);
              emit(
                series("kafka_partition_current_offset_ratio", { job, topic: topic.name, partition: "0" }),
                topic.published,
              );
              for (const group of topic.groups.values()) {
                const labels = { job, group: group.name, consumergroup: group.name };
                emit(series("kafka_consumer_group_members", labels), group.members);
                const lag = { ...labels, topic: topic.name };
                emit(series("kafka_consumer_group_lag_sum_ratio", lag), group.lag);
                emit(series("kafka_consumer_group_offset_sum_ratio", lag), group.consumed);
              }
            }
          }
        }
        for (const { program } of declared) {
          for (const process of processes.ofProgram(program)) {
            const job = `${behaviour.serviceNamespace}/${process.service}`;
            const failed = process.failedPolls;
            // A loop of attempts that lasts closes ever more connections in the client's window.
            const rate = failed < PATIENT_TICKS ? 0 : (1 + (failed % 2) / 10) / RECONNECT_SECONDS;
            emit(series("kafka_consumer_connection_close_rate", { job }), rate);
          }
        }
      },
    },
  };
}
