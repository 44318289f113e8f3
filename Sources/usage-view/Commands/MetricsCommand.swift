import ClockZones
import ArgumentParser
import Commands
import Essentials
import LocalFiles
import UsageState

extension UsageView {
    struct MetricsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "metrics",
            abstract: "Print the limits as metrics for Prometheus.",
            discussion: """
                Reads only this machine's replica, never the network. Ratios are 0 to 1, times seconds \
                since 1970. A limit has no ratio once it has been reset; how old the others are says \
                ubiquity_usage_observed_timestamp_seconds.

                EXAMPLES
                  usage-view metrics
                  usage-view metrics --output /var/lib/prometheus/node-exporter/usage.prom

                EXIT STATUS
                  0 written, also where nothing is known · 64 usage error · 74 the output cannot be
                  written
                """)

        @Option(help: "A file to replace atomically, for the textfile collector of node_exporter.", completion: .file())
        var output: String?

        @Flag(help: "Show invented names of accounts and devices.")
        var redact = false

        @OptionGroup var store: StoreOption

        func run() async throws {
            let now = Date()
            let data = LocalUsage(storeName: store.name).read(now: now)
            let model = ViewModel(data: redact ? data.redacted : data, now: now, zone: .local)
            let text = Data(PrometheusText(model).text.utf8)
            guard let output else { return try Console.write(text) }
            try CommandFailure.ending(.ioError) { () throws(FileError) in
                // The exporter is another user.
                try LocalFile(output).save(text, permissions: 0o644, durability: .cached)
            }
        }
    }
}
