// The program that libFuzzer drives: chooses a target by name and hands it the input. Not here: the targets
// (FuzzTargets).

import CLibFuzzer
import Foundation
import FuzzTargets

/// Runs libFuzzer on the target that the variable `FUZZ_TARGET` names; `scripts/fuzz` builds and calls it. libFuzzer
/// starts further processes with arguments of its own, so the name is not one of them.
@main
struct Fuzz {
    static func main() {
        guard targetOfThisProcess != nil else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
            FileHandle.standardError.write(Data("fuzz: set FUZZ_TARGET to one of \(names)\n".utf8))
            exit(64)
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
                targetOfThisProcess!.run(UnsafeRawBufferPointer(start: bytes, count: count))
                return 0
            })
    }
}

private let targetOfThisProcess = ProcessInfo.processInfo.environment["FUZZ_TARGET"]
    .flatMap { FuzzTarget(rawValue: $0) }
