// Redpanda Connect with the components of this comparison alone: Kafka, HTTP, caches and mappings.
package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
	_ "github.com/redpanda-data/connect/v4/public/components/kafka"
)

func main() {
	service.RunCLI(context.Background())
}
