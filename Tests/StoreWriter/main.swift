// A program that writes to a store until it is killed, or a number of times. Only the tests use it.
//
//     store-writer save <file> <first number>    saves batches for ever; tells of each on standard output once it is saved
//     store-writer count <file> <times>          counts one number up, together with others that do the same
//     store-writer archive <file> <step>         saves once to an XML or binary store, and ends before that system call of writing the file
//     store-writer conformance <name> <folder>   saves to a store of that name in a folder for ever, as the kit's test of killed processes needs it
//     store-writer fetch <milliseconds> <times>  fetches from so many stores at once that answer after a while, with one thread for all tasks
//     store-writer walk <milliseconds> <owners>  walks relationships of a remote store that answers after a while, with one thread for all tasks
//     store-writer cached <folder> <0 or 1>      saves through a cached store for ever, or sends what earlier runs have left and tells what is shown
//     store-writer upload <folder> <percent>     saves a large value and uploads it, killed at so many percent; with 0 uploads what is left of it
//     store-writer stop <folder> 0               saves through a cached store, and is stopped while it sends that
//     store-writer stages <file> <objects>       fills a store, or brings it to a later version in stages
//     store-writer migrate-<version> <file> <kilobytes>  migrates a store; tells of rows, and fails beyond a size of files that is not 0
//     store-writer manage <file> 0               migrates a store by a manager with a policy, into <file>.new; tells of rows
//     store-writer fill <file> <rows>            makes a store of the first version to migrate
//     store-writer check <file> <rows>           tells of which version it is now; fails where its rows are not those

import CoreData
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tells of something at once, past every buffer that would be lost with the process.
func report(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    guard write(1, bytes, bytes.count) == bytes.count else { exit(3) }
}

/// Waits for what runs on one thread, as a program does that has no other.
func onOneThread(_ body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: OneThread()) {
        do { try await body() } catch { report("error: \(error)") }
        done.signal()
    }
    done.wait()
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "conformance" {
    do { try saveForTheKit(arguments[2], in: arguments[3]) } catch {
        report("error: \(error)")
        exit(1)
    }
}
guard arguments.count == 4, let number = Int64(arguments[3]) else {
    report(
        "usage: store-writer save|count|archive|cached|upload|stop|stages|migrate-<version>|manage|fill|check <file> <number>, fetch|walk <milliseconds> <number>"
    )
    exit(2)
}
let (command, subject, count) = (arguments[1], arguments[2], Int(number))
let milliseconds = Int(subject) ?? 50
do {
    switch command {
    case "fetch", "walk":
        AwaitedStore.milliseconds.withLock { $0 = milliseconds }
        onOneThread {
            if command == "walk" { return try await walk(count, milliseconds: milliseconds) }
            try await fetchAtOnce(1)
            try await fetchAtOnce(count)
        }
    case "cached": onOneThread { try await CachedWriter.run(subject, isLast: count == 1) }
    case "stop": onOneThread { try await saveAndStop(in: subject) }
    case "upload": onOneThread { try await UploadWriter.run(subject, killedAt: count) }
    case "stages": try StagedWriter.run(subject, count)
    case "archive": try saveArchive(subject, endingAt: count)
    case "fill": try FilledStore.fill(subject, rows: count)
    case "check": try FilledStore.check(subject, rows: count)
    case "manage":
        try migrateByManager(subject)
        report("done")
    case _ where command.hasPrefix("migrate-"):
        try migrate(subject, to: String(command.dropFirst(8)), limit: number)
        report("done")
    default:
        let context = try makeContext(subject)
        try context.performAndWait {
            if command == "count" { try countUp(context, count) } else { try saveForEver(context, from: number) }
        }
    }
} catch {
    report("error: \(error.localizedDescription)")
    exit(1)
}
