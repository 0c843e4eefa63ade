// Asks Prometheus' own engine the queries on standard input, and writes its answers, gzipped, to standard output.
// See README.md for how to run it.
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

type query struct {
	Query string `json:"query"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Step  int64  `json:"step"`
}

type answer struct {
	query
	Error string `json:"error,omitempty"`
	// [labels, [[milliseconds, "value"], ...]]
	Rows []any `json:"rows"`
}

func point(t int64, v float64) []any {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if math.IsInf(v, 1) {
		text = "+Inf"
	}
	return []any{t, text}
}

func rows(value parser.Value) []any {
	out := []any{}
	switch v := value.(type) {
	case promql.Scalar:
		out = append(out, []any{labels.EmptyLabels(), []any{point(v.T, v.V)}})
	case promql.Vector:
		for _, s := range v {
			out = append(out, []any{s.Metric, []any{point(s.T, s.F)}})
		}
	case promql.Matrix:
		for _, s := range v {
			points := []any{}
			for _, p := range s.Floats {
				points = append(points, point(p.T, p.F))
			}
			out = append(out, []any{s.Metric, points})
		}
	}
	return out
}

func main() {
	var input struct {
		Load    string  `json:"load"`
		Queries []query `json:"queries"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	testing.Init()
	record := func(t *testing.T) {
		storage := promqltest.LoadedStorage(t, input.Load)
		defer storage.Close()
		engine := promql.NewEngine(promql.EngineOpts{
			MaxSamples:               50000000,
			Timeout:                  time.Minute,
			EnableAtModifier:         true,
			EnableNegativeOffset:     true,
			NoStepSubqueryIntervalFn: func(int64) int64 { return 60000 },
			Parser:                   parser.NewParser(parser.Options{EnableExperimentalFunctions: true}),
		})
		answers := []answer{}
		for _, q := range input.Queries {
			var prepared promql.Query
			var err error
			start, end := time.UnixMilli(q.Start), time.UnixMilli(q.End)
			if q.Step > 0 {
				step := time.Duration(q.Step) * time.Millisecond
				prepared, err = engine.NewRangeQuery(context.Background(), storage, nil, q.Query, start, end, step)
			} else {
				prepared, err = engine.NewInstantQuery(context.Background(), storage, nil, q.Query, start)
			}
			a := answer{query: q, Rows: []any{}}
			if err == nil {
				result := prepared.Exec(context.Background())
				if err = result.Err; err == nil {
					a.Rows = rows(result.Value)
				}
			}
			if err != nil {
				a.Error = err.Error()
			}
			answers = append(answers, a)
		}
		out := gzip.NewWriter(os.Stdout)
		if err := json.NewEncoder(out).Encode(map[string]any{"load": input.Load, "answers": answers}); err != nil {
			panic(err)
		}
		out.Close()
		os.Exit(0)
	}
	testing.Main(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "record", F: record}}, nil, nil)
}
