// The command that runs simulated worlds, one seed after another, and reports violations. Not here:
// the worlds themselves.

import ArgumentParser
import Foundation
import SimulatedWorld

@main struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run the store in simulated worlds where everything fails, and check its promises.",
        discussion: """
            A seed decides everything: devices, programs, what users write, and every fault of disks, network,
            clocks and machines. The worlds run the shipped replica, log and hub. A broken promise ends with
            status 1, the last events before it and the line that plays it again.

              simulate --seeds 1000                 seeds from 1 on
              simulate --seeds 100000 --first 7000  a campaign; Ctrl-C ends it with its table
              simulate --minutes 2                  fresh seeds for two minutes
              simulate --seed 4757 --trace          one world, event by event
            """)

    @Option(help: ArgumentHelp("Run so many seeds.", valueName: "count"))
    var seeds: UInt64?

    @Option(help: ArgumentHelp("The first seed of --seeds.", valueName: "seed"))
    var first: UInt64 = 1

    @Option(help: ArgumentHelp("Run fresh seeds for so long.", valueName: "count"))
    var minutes: Double?

    @Option(help: ArgumentHelp("Run this one seed.", valueName: "seed"))
    var seed: UInt64?

    @Flag(help: "Print every event of --seed.")
    var trace = false

    @Option(help: ArgumentHelp("Run so many worlds at once.", valueName: "count"))
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: ArgumentHelp("End after so many broken seeds.", valueName: "count"))
    var failures = 10

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard [seeds != nil, minutes != nil, seed != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --seeds, --minutes and --seed.")
        }
        guard jobs > 0, failures > 0, seeds ?? 1 > 0, minutes ?? 1 > 0 else {
            throw ValidationError("Counts are above 0.")
        }
        guard !first.addingReportingOverflow(seeds ?? 0).overflow else {
            throw ValidationError("--first and --seeds together pass \(UInt64.max).")
        }
        guard !trace || seed != nil else { throw ValidationError("--trace goes with --seed.") }
    }

    func run() throws {
        if let seed { return try replay(seed) }
        let start = seeds == nil ? UInt64.random(in: 1...UInt64(UInt32.max)) << 16 : first
        let campaign = Campaign(first: start, count: seeds, failureLimit: failures)
        campaign.run(jobs: jobs, until: minutes.map { Date(timeIntervalSinceNow: $0 * 60) })
        let report = campaign.report
        if json {
            try print(String(decoding: report.encoded(), as: UTF8.self))
        } else {
            print(report.text, terminator: "")
        }
        if !report.broken.isEmpty { throw ExitCode(1) }
    }

    private func replay(_ seed: UInt64) throws {
        let world = World(seed: seed)
        if trace { world.traceSink = { print($0) } }
        do throws(Violation) {
            try world.run()
        } catch {
            print(error)
            throw ExitCode(1)
        }
        print("seed \(seed): every promise held")
    }
}
