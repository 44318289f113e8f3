// The door: one command on each machine, which runs the six other programs. Not here: what they do; whatever this
// program does can be done with them by hand.

import ArgumentParser
import Commands
import Essentials

struct Ubq: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ubq",
        abstract: "See your limits on every machine: one command to begin, one for each further machine.",
        discussion: """
            Without a command, it reads this machine's AI coding tools and shows the bars of all your machines.

            EXAMPLES
              ubq                          show the bars
              ubq up                       make this machine the home of your data, and keep it up to date
              ubq add box                  set up another machine by SSH, from here
              ubq join 'ubiquity://…'      the same by hand, there, with the line that 'ubq up' prints
              ubq phone                    show the bars on a phone
              ubq status                   daemon, machines, services and versions on one screen
              ubq doctor                   what is wrong, and the command that mends each
              ubq down                     undo 'ubq up'

            up, join, add, leave and down show what they will do and ask first; --yes answers yes, --dry-run \
            changes nothing. Each may be repeated: what is done already stays as it is.

            Other programs of this package: ubq view, push, kvs, daemon, clip and link run usage-view, usage-push, \
            kvs, kvsd, ubiquity-clip and ubiquity-link with the arguments that follow.

            EXIT STATUS
              0 done · 1 something is wrong (doctor) or could not be done on one of the hosts (add)
              64 usage error · 69 a program of this package or a service manager is missing
              others are those of the program that failed
            """,
        version: ProgramVersion.text,
        subcommands: [
            UpCommand.self, JoinCommand.self, AddCommand.self, PhoneCommand.self, StatusCommand.self,
            DoctorCommand.self, LeaveCommand.self, DownCommand.self,
        ])

    func run() throws { try Bars().show() }
}

/// What `ubq` shows without a command.
struct Bars {
    func show() throws {
        let pusher = try Sibling.push.report(ServiceReport.self, ["service", "status", "--json"])
        // A service pushes each change by itself. A push that fails says why, and keeps nobody from what is there.
        let pushed = pusher?.isActive == true ? 0 : try Sibling.push.run(["--quiet"])
        let shown = try Sibling.view.run([])
        if let failure = [shown, Step.pushed.contains(pushed) ? 0 : pushed].first(where: { $0 != 0 }) {
            throw ExitCode(failure)
        }
        guard pusher?.lastPush == nil, pusher?.isActive != true else { return }
        let tools = try Sibling.push.report(SourcesReport.self, ["sources", "--json"])?.toolNames ?? []
        Console.note(
            tools.isEmpty
                ? "Found no files of an AI coding tool in your home directory; nothing has left this machine."
                : "Read what \(tools.listed) wrote to your home directory; nothing has left this machine.")
        // A machine of an account is set up already, or was removed from it, which has been said.
        let account = try Sibling.kvs.report(AccountReport.self, ["status", "--json", "--no-sync"])
        guard account?.joined != true else { return }
        Console.note("Next: ubq up keeps this up to date, and prints how to add other machines and a phone.")
    }
}
