{{/* Names, and what follows from the values; whatever must not be deployed is refused here. */}}
{{- define "threatweave.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "threatweave.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "threatweave.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "threatweave.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "threatweave.selector" -}}
app.kubernetes.io/name: {{ include "threatweave.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "threatweave.labels" -}}
{{ include "threatweave.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "threatweave.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end }}

{{- define "threatweave.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "threatweave.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- define "threatweave.secretName" -}}
{{- .Values.secret.existing | default (include "threatweave.fullname" .) -}}
{{- end }}

{{/* The settings that come from the Secret, as a list of names. */}}
{{- define "threatweave.secretSettings" -}}
{{- $names := .Values.secret.settings -}}
{{- if not .Values.secret.existing -}}{{- $names = keys .Values.secret.values | sortAlpha -}}{{- end -}}
{{- toJson $names -}}
{{- end }}

{{/* intel.service.apiKey → THREATWEAVE_INTEL_SERVICE_API_KEY_FILE, as the program reads it. */}}
{{- define "threatweave.fileVariable" -}}
THREATWEAVE_{{ regexReplaceAll "([A-Z])" . "_${1}" | replace "." "_" | upper }}_FILE
{{- end }}

{{- define "threatweave.opsPort" -}}
{{- dig "ops" "port" 9464 .Values.config | int -}}
{{- end }}

{{- define "threatweave.gatewayOpsPort" -}}
{{- dig "serve" "opsPort" 9463 .Values.config | int -}}
{{- end }}

{{- define "threatweave.maxReplicas" -}}
{{- if or .Values.autoscaling.hpa.enabled .Values.autoscaling.keda.enabled -}}
{{- .Values.autoscaling.maxReplicas | int -}}
{{- else -}}
{{- .Values.replicas | int -}}
{{- end -}}
{{- end }}

{{/* Two where gateways can settle which one calls and share what it pays for. */}}
{{- define "threatweave.gatewayReplicas" -}}
{{- $kafka := dig "kafka" dict .Values.config -}}
{{- if .Values.gateway.replicas -}}
{{- .Values.gateway.replicas | int -}}
{{- else if and $kafka.gatewaysTopic $kafka.verdictsTopic -}}
2
{{- else -}}
1
{{- end -}}
{{- end }}

{{/* Not empty where the gateway speaks to the brokers. */}}
{{- define "threatweave.gatewayUsesKafka" -}}
{{- $kafka := dig "kafka" dict .Values.config -}}
{{- $shares := and $kafka.verdictsTopic (not (dig "feeds" list .Values.config)) (not (dig "serve" "data" "" .Values.config)) -}}
{{- if or $kafka.gatewaysTopic $shares -}}true{{- end -}}
{{- end }}

{{- define "threatweave.upstream" -}}
{{- .Values.gateway.upstream | default (dig "intel" "service" "baseUrl" "https://api.criminalip.io" .Values.config) -}}
{{- end }}

{{- define "threatweave.graceSeconds" -}}
{{- $drain := div (add (dig "kafka" "limits" "drainMs" 20000 .Values.config | int) 999) 1000 -}}
{{- $given := .Values.terminationGracePeriodSeconds | int -}}
{{- if and $given (le $given (int $drain)) -}}
{{- fail (printf "terminationGracePeriodSeconds: %d is not longer than kafka.limits.drainMs (%d s)" $given (int $drain)) -}}
{{- end -}}
{{- if $given -}}{{ $given }}{{- else -}}{{ add $drain 15 }}{{- end -}}
{{- end }}

{{/* The feeds with a URL, as a JSON list: whoever fetches them is the gateway where there is one, else each worker. */}}
{{- define "threatweave.fetchedFeeds" -}}
{{- $fetched := list -}}
{{- range dig "feeds" list .Values.config -}}
{{- if .url -}}{{- $fetched = append $fetched . -}}{{- end -}}
{{- end -}}
{{- toJson $fetched -}}
{{- end }}

{{/* The name of a source: of a bundled one, or of its file. */}}
{{- define "threatweave.sourceName" -}}
{{- .use | default (base (.file | default "") | trimSuffix ".yaml" | trimSuffix ".yml") -}}
{{- end }}

{{/* The configuration of a process, `fetches` being whether it has the feeds with a URL and asks sources itself. */}}
{{- define "threatweave.config" -}}
{{- $fetches := .fetches -}}
{{- $headers := .root.Values.feedHeaders -}}
{{- $config := deepCopy .root.Values.config -}}
{{- $feeds := list -}}
{{- range $config.feeds -}}
{{- if hasKey $headers .name -}}
{{- $_ := set . "headersFile" (printf "/etc/threatweave/feed-headers/%s" .name) -}}
{{- end -}}
{{- if or $fetches (not .url) -}}{{- $feeds = append $feeds . -}}{{- end -}}
{{- end -}}
{{- if $config.feeds -}}{{- $_ := set $config "feeds" $feeds -}}{{- end -}}
{{- $keys := .root.Values.sourceKeys -}}
{{- range dig "intel" "sources" list $config -}}
{{- $name := include "threatweave.sourceName" . -}}
{{- if not $fetches -}}
{{- $_ := set . "gateway" true -}}
{{- $_ := unset . "apiKeyFile" -}}
{{- else if hasKey $keys $name -}}
{{- $_ := set . "apiKeyFile" (printf "/etc/threatweave/source-keys/%s" $name) -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{- define "threatweave.sourceKeysVolume" -}}
- name: source-keys
  projected:
    defaultMode: 0440
    sources:
      {{- range $source, $from := .Values.sourceKeys }}
      - secret: { name: {{ $from.secret }}, items: [{ key: {{ $from.key | default "apiKey" }}, path: {{ $source }} }] }
      {{- end }}
{{- end }}

{{- define "threatweave.feedHeadersVolume" -}}
- name: feed-headers
  projected:
    defaultMode: 0440
    sources:
      {{- range $feed, $from := .Values.feedHeaders }}
      - secret: { name: {{ $from.secret }}, items: [{ key: {{ $from.key | default "headers" }}, path: {{ $feed }} }] }
      {{- end }}
{{- end }}

{{/* The ports of the provider and of feeds, as a JSON list. */}}
{{- define "threatweave.outsidePorts" -}}
{{- $ports := list 443 -}}
{{- range include "threatweave.fetchedFeeds" . | fromJsonArray -}}
{{- $url := urlParse .url -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $ports = append $ports ($port | default (ternary 80 443 (eq $url.scheme "http")) | int) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end }}

{{/* Calls in flight for each worker, or nothing where the configuration says. */}}
{{- define "threatweave.workerConcurrency" -}}
{{- if .Values.gateway.enabled -}}
{{- .Values.gateway.workerConcurrency | int -}}
{{- else if .Values.provider.concurrency -}}
{{- div (.Values.provider.concurrency | int) (include "threatweave.maxReplicas" . | int) -}}
{{- end -}}
{{- end }}

{{/* What the program would refuse to start without: said here, before anything is deployed. A setting may come from extraEnv too. */}}
{{- define "threatweave.checkWhatIsNeeded" -}}
{{- $v := .Values -}}
{{- $env := dict -}}
{{- range $v.extraEnv -}}{{- $_ := set $env .name true -}}{{- end -}}
{{- $secrets := include "threatweave.secretSettings" . | fromJsonArray -}}
{{- if not (or (dig "kafka" "brokers" list $v.config) (hasKey $env "THREATWEAVE_KAFKA_BROKERS")) -}}
{{- fail "config.kafka.brokers: name the brokers to start from, as host:port; ci/default-values.yaml is the least that runs" -}}
{{- end -}}
{{- if not (or (dig "kafka" "input" "topics" list $v.config) (dig "kafka" "input" "pattern" "" $v.config) (hasKey $env "THREATWEAVE_KAFKA_INPUT_TOPICS") (hasKey $env "THREATWEAVE_KAFKA_INPUT_PATTERN")) -}}
{{- fail "config.kafka.input.topics: name the topics to read" -}}
{{- end -}}
{{- if not (or (dig "kafka" "output" "topic" "" $v.config) (hasKey $env "THREATWEAVE_KAFKA_OUTPUT_TOPIC")) -}}
{{- fail "config.kafka.output.topic: say where the annotated events go" -}}
{{- end -}}
{{- if not (or (dig "feeds" list $v.config) (has "intel.service.apiKey" $secrets) (hasKey $env "THREATWEAVE_FEEDS") (hasKey $env "THREATWEAVE_INTEL_SERVICE_API_KEY") (hasKey $env "THREATWEAVE_INTEL_SERVICE_API_KEY_FILE")) -}}
{{- fail "config.feeds: there is nothing to look events up in; name a feed, or put intel.service.apiKey into secret" -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.brokers) -}}
{{- fail "networkPolicy.brokers: say where the brokers are, as peers such as [{ipBlock: {cidr: 192.0.2.0/24}}]; without it the policy would have to let the workers out to everyone" -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled (dig "kafka" "registry" "url" "" $v.config) (not $v.networkPolicy.registry) -}}
{{- fail "networkPolicy.registry: say where the schema registry of config.kafka.registry.url is, as peers such as [{ipBlock: {cidr: 192.0.2.0/24}}]" -}}
{{- end -}}
{{- if and $v.notifier.enabled (not $v.notifier.sinks) -}}
{{- fail "notifier.sinks: say where alerts are sent, such as {soc-chat: {use: slack, urlFile: /etc/threatweave/sink-secrets/slack-url}}" -}}
{{- end -}}
{{- if and $v.notifier.enabled $v.networkPolicy.enabled (not $v.notifier.egress) -}}
{{- fail "notifier.egress: say where the sinks are, as rules such as [{to: [{ipBlock: {cidr: 192.0.2.0/24}}], ports: [{protocol: TCP, port: 443}]}]; without it the policy would let no alert out" -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled $v.serviceMonitor.enabled (not $v.networkPolicy.opsFrom) -}}
{{- fail "networkPolicy.opsFrom: name who reads the metrics, as peers such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]; serviceMonitor is enabled and the policy lets no one in" -}}
{{- end -}}
{{- end }}

{{- define "threatweave.check" -}}
{{- include "threatweave.checkWhatIsNeeded" . -}}
{{- $v := .Values -}}
{{- $max := include "threatweave.maxReplicas" . | int -}}
{{- $scales := or $v.autoscaling.hpa.enabled $v.autoscaling.keda.enabled -}}
{{- $secrets := include "threatweave.secretSettings" . | fromJsonArray -}}
{{- if and $v.autoscaling.hpa.enabled $v.autoscaling.keda.enabled -}}
{{- fail "autoscaling: hpa and keda would work against each other; enable one of them" -}}
{{- end -}}
{{- if and $scales (not $v.partitions) -}}
{{- fail "partitions: autoscaling needs the number of input partitions" -}}
{{- end -}}
{{- if and $scales (gt ($v.autoscaling.minReplicas | int) $max) -}}
{{- fail "autoscaling.minReplicas: is more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and $v.partitions (gt $max ($v.partitions | int)) -}}
{{- fail (printf "%s: %d workers, but %d partitions to share; the rest would idle" (ternary "autoscaling.maxReplicas" "replicas" $scales) $max ($v.partitions | int)) -}}
{{- end -}}
{{- if and $v.secret.existing $v.secret.values -}}
{{- fail "secret: either existing, with settings, or values" -}}
{{- end -}}
{{- if and $v.secret.existing (not $v.secret.settings) -}}
{{- fail "secret.settings: say which settings the existing Secret holds" -}}
{{- end -}}
{{- if and $v.secret.settings (not $v.secret.existing) -}}
{{- fail "secret.settings: belongs to secret.existing; a Secret made here has secret.values" -}}
{{- end -}}
{{- if and (gt $max 1) (not $v.gateway.enabled) (has "intel.service.apiKey" $secrets) (not $v.provider.concurrency) -}}
{{- fail (printf "replicas: %d workers would each call the provider as if alone; enable the gateway, or state the concurrency of the plan in provider.concurrency" $max) -}}
{{- end -}}
{{- if and (not $v.gateway.enabled) $v.provider.concurrency (lt ($v.provider.concurrency | int) $max) -}}
{{- fail (printf "provider.concurrency: %d is less than one call for each of %d workers; enable the gateway" ($v.provider.concurrency | int) $max) -}}
{{- end -}}
{{- if and $v.gateway.enabled (gt (include "threatweave.gatewayReplicas" . | int) 1) -}}
{{- if not (dig "kafka" "gatewaysTopic" "" $v.config) -}}
{{- fail "gateway.replicas: several gateways need config.kafka.gatewaysTopic, where they settle which one calls" -}}
{{- end -}}
{{- if dig "serve" "tls" "certFile" "" $v.config -}}
{{- fail "gateway.replicas: several gateways reach each other by the addresses of their pods, for which no certificate of serve.tls can be; use one gateway, or encrypt between pods" -}}
{{- end -}}
{{- if $v.gateway.persistence.existingClaim -}}
{{- fail "gateway.persistence.existingClaim: is for one process at a time; several gateways keep what is paid for on the verdicts topic" -}}
{{- end -}}
{{- end -}}
{{- if $v.gateway.enabled -}}
{{- range list "intel.service.apiKey" "serve.apiKey" -}}
{{- if not (has . $secrets) -}}
{{- fail (printf "secret: the gateway needs %s (intel.service.apiKey is its key at the provider, serve.apiKey the one its callers show)" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $fetched := dict -}}
{{- range include "threatweave.fetchedFeeds" . | fromJsonArray -}}{{- $_ := set $fetched .name true -}}{{- end -}}
{{- range $feed, $_ := $v.feedHeaders -}}
{{- if not (hasKey $fetched $feed) -}}
{{- fail (printf "feedHeaders.%s: config.feeds has no feed of this name with a url" $feed) -}}
{{- end -}}
{{- end -}}
{{- $sources := dict -}}
{{- range dig "intel" "sources" list $v.config -}}{{- $_ := set $sources (include "threatweave.sourceName" .) true -}}{{- end -}}
{{- range $source, $_ := $v.sourceKeys -}}
{{- if not (hasKey $sources $source) -}}
{{- fail (printf "sourceKeys.%s: config.intel.sources has no source of this name" $source) -}}
{{- end -}}
{{- end -}}
{{- if and (gt $max 1) (not $v.gateway.enabled) $sources -}}
{{- fail (printf "replicas: %d workers would each use the limits of a source as if alone; enable the gateway" $max) -}}
{{- end -}}
{{- if and (gt $max 1) (hasKey $v.memoryVolume "persistentVolumeClaim") -}}
{{- fail "memoryVolume: the folder of the memory is for one process at a time; with several workers enable the gateway" -}}
{{- end -}}
{{- if not (dig "ops" "enabled" true $v.config) -}}
{{- fail "config.ops.enabled: the probes ask the endpoint; it cannot be off here" -}}
{{- end -}}
{{- if $v.autoscaling.keda.enabled -}}
{{- if not (dig "kafka" "input" "topics" list $v.config) -}}
{{- fail "config.kafka.input.topics: KEDA counts the lag of named topics" -}}
{{- end -}}
{{- if and (ne (dig "kafka" "sasl" "mechanism" "none" $v.config) "none") (not $v.autoscaling.keda.authenticationRef) -}}
{{- fail "autoscaling.keda.authenticationRef: the brokers ask who KEDA is" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "threatweave.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "threatweave.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "threatweave.placement" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One egress rule to DNS, and one to the provider and the feeds outside. */}}
{{- define "threatweave.egressDns" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end }}
{{- define "threatweave.outside" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{- toYaml .Values.networkPolicy.privateRanges.ipv4 | nindent 6 }}
- ipBlock:
    cidr: ::/0
    except: {{- toYaml .Values.networkPolicy.privateRanges.ipv6 | nindent 6 }}
{{- end }}
{{- define "threatweave.egressProvider" -}}
- to: {{- include "threatweave.outside" . | nindent 4 }}
  ports:
    {{- range include "threatweave.outsidePorts" . | fromJsonArray }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end }}
{{/* To where a login gets its token: the token server, or AWS and what gives its credentials to a pod. */}}
{{- define "threatweave.egressLogin" -}}
{{- $sasl := dig "kafka" "sasl" dict .Values.config }}
{{- $mechanism := get $sasl "mechanism" }}
{{- $url := ternary (get $sasl "tokenUrl") "" (eq $mechanism "oauthbearer") }}
{{- if or $url (eq $mechanism "aws-msk-iam") }}
- to:
    {{- with .Values.networkPolicy.tokenServer }}{{ toYaml . | nindent 4 }}{{- else }}{{- include "threatweave.outside" . | nindent 4 }}{{- end }}
  ports:
    - { protocol: TCP, port: {{ regexFind ":[0-9]+$" (urlParse $url).host | trimPrefix ":" | default (ternary "80" "443" (hasPrefix "http:" $url)) }} }
{{- end }}
{{- if eq $mechanism "aws-msk-iam" }}
- to:
    - ipBlock: { cidr: 169.254.169.254/32 }
    - ipBlock: { cidr: 169.254.170.23/32 }
  ports:
    - { protocol: TCP, port: 80 }
{{- end }}
{{- end }}
