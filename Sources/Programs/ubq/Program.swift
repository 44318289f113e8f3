import ArgumentParser
import Commands
import Essentials

/// Where the program starts.
@main
enum Program {
    static func main() {
        #if ONE_PROGRAM
            if let program = Sibling(startedAs: ProgramArguments.all.first ?? "") {
                exit(program.main(CommandLine.argc, CommandLine.unsafeArgv))
            }
        #endif
        Console.start(program: "ubq")
        let arguments = ProgramArguments.given
        if let name = arguments.first, let program = Sibling.named(name) {
            Console.exit(for: program.become(Array(arguments.dropFirst())), message: "", status: 0)
        }
        ProgramStart.run("ubq") {
            guard let script = CompletionScript(askedFor: arguments) else { return await Ubq.runProgram() }
            Console.exit(for: CleanExit.message(script.text), message: script.text, status: 0)
        }
    }
}

#if ONE_PROGRAM
    // The entry points of the other programs; Package.swift gives them these names.
    private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    @_silgen_name("usage_view_main") private func viewMain(_ count: Int32, _ arguments: Arguments) -> Int32
    @_silgen_name("usage_push_main") private func pushMain(_ count: Int32, _ arguments: Arguments) -> Int32
    @_silgen_name("kvs_main") private func kvsMain(_ count: Int32, _ arguments: Arguments) -> Int32
    @_silgen_name("kvsd_main") private func daemonMain(_ count: Int32, _ arguments: Arguments) -> Int32
    @_silgen_name("clip_main") private func clipMain(_ count: Int32, _ arguments: Arguments) -> Int32
    @_silgen_name("link_main") private func linkMain(_ count: Int32, _ arguments: Arguments) -> Int32

    extension Sibling {
        /// The program by whose name this file was started, through a link; nil for `ubq` itself.
        fileprivate init?(startedAs path: String) {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            guard let program = Self.allCases.first(where: { [$0.rawValue, $0.installedName].contains(name) }) else {
                return nil
            }
            self = program
        }

        fileprivate func main(_ count: Int32, _ arguments: Arguments) -> Int32 {
            switch self {
            case .view: viewMain(count, arguments)
            case .push: pushMain(count, arguments)
            case .kvs: kvsMain(count, arguments)
            case .daemon: daemonMain(count, arguments)
            case .clip: clipMain(count, arguments)
            case .link: linkMain(count, arguments)
            }
        }
    }
#endif
