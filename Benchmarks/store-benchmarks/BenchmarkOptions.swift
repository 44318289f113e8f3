import Foundation

/// The command line options.
struct BenchmarkOptions {
    var groups = BenchmarkGroup.allCases
    var isJSON = false
    var setting = Setting(folder: FileManager.default.temporaryDirectory.path, divisor: 1)

    /// - Parameter arguments: without the program's name.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var named: [BenchmarkGroup] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--quick": setting.divisor = 100
            case "--folder":
                guard let folder = rest.popFirst() else {
                    throw Unexpected("--folder needs a directory")
                }
                setting.folder = folder
            default:
                guard let group = BenchmarkGroup(rawValue: argument) else {
                    throw Unexpected("unknown option or group '\(argument)'; see --help")
                }
                named.append(group)
            }
        }
        if !named.isEmpty { groups = named }
    }

    static var help: String {
        let groups = BenchmarkGroup.allCases.map { group in
            "  " + group.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0) + group.summary
        }
        return """
            usage: store-benchmarks [--json] [--quick] [--folder FOLDER] [GROUP …]

            Measure the store on this machine and print one table per group.

              --json          print one JSON document; times are in nanoseconds
              --quick         few runs and small sizes, to check that everything works
              --folder FOLDER directory for the files, on the disk to be measured

            groups (default: all):
            \(groups.joined(separator: "\n"))
            """
    }
}
