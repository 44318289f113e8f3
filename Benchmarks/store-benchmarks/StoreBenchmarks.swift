import Foundation

@main
enum StoreBenchmarks {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("store-benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        if arguments.contains("--help") || arguments.contains("-h") {
            return print(BenchmarkOptions.help)
        }
        if arguments.count == 2, arguments[0] == DaemonOpenBenchmarks.openingOption {
            let opening = try DaemonOpenBenchmarks.open(arguments[1])
            return print(String(decoding: try JSONEncoder().encode(opening), as: UTF8.self))
        }
        let options = try BenchmarkOptions(arguments)
        var report = Report()
        for group in options.groups {
            let findings = try await group.measure(options.setting)
            report.findings.append(findings)
            guard !options.isJSON else { continue }
            print(Report.table(findings), terminator: "\n\n")
            fflush(nil)
        }
        if options.isJSON { print(try report.json) }
    }
}
