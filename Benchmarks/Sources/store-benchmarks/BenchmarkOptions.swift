import Foundation

/// What the command line asks for.
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
                guard let folder = rest.popFirst() else { throw Unexpected("--folder needs one") }
                setting.folder = folder
            default:
                guard let group = BenchmarkGroup(rawValue: argument) else {
                    throw Unexpected("\(argument): no such option or group; see --help")
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

            Measures the store on this machine and prints one table for each group.

              --json          print one JSON document instead; times are in nanoseconds
              --quick         few runs and small sizes, to see that everything works
              --folder FOLDER where to make files; choose the disk that you mean to measure

            groups (all of them where none is named):
            \(groups.joined(separator: "\n"))
            """
    }
}
