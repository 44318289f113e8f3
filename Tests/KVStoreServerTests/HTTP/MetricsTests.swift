import Foundation
import HTTPTypes
import KVStoreCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Metrics", .engines)
struct MetricsTests {
    private let test = try! TestServer()

    /// The metrics after a write, a sync and two refusals.
    private func text() async throws -> String {
        try await test.served { client, _ in
            _ = try await test.send(
                client, .post, "/v1/stores/secret-store/sync",
                body: test.syncBody(Samples.request([Samples.change("secret-key")])))
            for path in ["/v1/nothing", "/v1/stores/secret-store/keys/absent"] {
                _ = try await test.send(client, .get, path)
            }
            return try await client.execute(uri: "/metrics", method: .get).text
        }
    }

    @Test("answers, refusals, latency and syncs are counted")
    func counts() async throws {
        let text = try await text()
        let group = TestEngine.current == .log ? "disk_sync" : "database_commit"
        for line in [
            "kvsd_answers_total{class=\"2xx\"} 1", "kvsd_answers_total{class=\"4xx\"} 2",
            "kvsd_refusals_total{code=\"unknown-key\"} 1",
            "kvsd_refusals_total{code=\"unknown-path\"} 1",
            "kvsd_request_seconds_bucket{le=\"+Inf\"} 3", "kvsd_request_seconds_count 3",
            "kvsd_\(group)_requests_bucket{le=\"1.0\"} 1", "kvsd_\(group)_requests_sum 1.0",
            "kvsd_\(group)_seconds_count 1", "kvsd_memory_limit_bytes 1073741824",
            "kvsd_devices \(test.server.devices.count)",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line) is missing in\n\(text)")
        }
        #expect(text.contains(/\nkvsd_log_bytes [1-9][0-9]+\n/) == (TestEngine.current == .log))
    }

    @Test("no label names an account, a device, a store or a key")
    func labels() async throws {
        let names = try await text().matches(of: /[{,]([a-z]+)="([^"]*)"/).map { String($0.1) }
        #expect(Set(names) == ["class", "code", "le"])
    }

    @Test(
        "the parser of Prometheus accepts the text",
        .enabled(if: Self.hasParser, "python3 has no prometheus_client; pip install it"))
    func parsing() async throws {
        let file = NSTemporaryDirectory() + "metrics-\(UUID().uuidString)"
        try Data(try await text().utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let script = """
            import sys
            from prometheus_client.parser import text_string_to_metric_families
            for family in text_string_to_metric_families(open(sys.argv[1]).read()):
                if family.type == "unknown": sys.exit(family.name + " has no type")
                if family.type != "histogram": continue
                values = [s.value for s in family.samples if s.name.endswith("_bucket")]
                count = [s.value for s in family.samples if s.name.endswith("_count")]
                if values != sorted(values) or [values[-1]] != count: sys.exit(family.name)
                print(family.name)
            """
        let (status, output) = try Self.python(["-c", script, file])
        #expect(status == 0, "\(output)")
        #expect(output == "kvsd_request_seconds\nkvsd_disk_sync_requests\nkvsd_disk_sync_seconds\n")
    }

    private static let hasParser = (try? python(["-c", "import prometheus_client.parser"]))?.status == 0

    private static func python(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test("a histogram counts a value at the limit of a bucket in it, and larger ones in the last")
    func histogram() {
        var histogram = Histogram([1, 2])
        for value in [1.0, 1.5, 3] { histogram.observe(value) }
        #expect(
            histogram.text("h") == """
                h_bucket{le="1.0"} 1
                h_bucket{le="2.0"} 2
                h_bucket{le="+Inf"} 3
                h_sum 5.5
                h_count 3

                """)
    }
}
