// A tour through the example stores: `swift run coredata-demo`. It needs no network; the web services it talks to run in this process.
//
// `coredata-demo offline` is the chapter without its server alone, `coredata-demo offline --kinto http://127.0.0.1:8888` the same with Kinto.
// `coredata-demo postgresql postgresql://…` is the chapter over a database, in a build with the trait PostgreSQL.

import Foundation
import SampleService

let terminal = Terminal()
let arguments = Array(CommandLine.arguments.dropFirst())

/// All chapters.
func tour() async throws {
    let service = try await SampleService.start { terminal.request($0) }
    terminal.title("OpenCoreData: object graphs over things that are not databases")
    terminal.text(
        """
        Every object below is a managed object, found by a fetch request and walked by its properties. A line with an arrow is an HTTP
        request, written by the server at \(service.baseURL) as it arrives.
        """)

    var tally = Tally()
    tally.add(try await WebChapter(service: service, terminal: terminal).run())
    tally.add(try await WalkChapter(service: service, terminal: terminal).run())
    tally.add(try await BackendChapter(service: service, terminal: terminal).run())
    tally.add(try await CacheChapter(service: service, terminal: terminal).run())
    tally.add(try await OfflineChapter(terminal: terminal).run())
    tally.add(try await SongsChapter(terminal: terminal).run())
    try await FailureChapter(service: service, terminal: terminal).run()

    terminal.chapter("What it took")
    terminal.table(Tally.header, tally.rows)
    await service.stop()
}

do {
    switch (arguments.first, arguments.count) {
    case (nil, _): try await tour()
    case ("offline", 1): _ = try await OfflineChapter(terminal: terminal).run()
    case ("offline", 3) where arguments[1] == "--kinto":
        guard let kinto = URL(string: arguments[2]), kinto.host != nil else {
            throw UsageError(description: "“\(arguments[2])” is no address of a server.")
        }
        _ = try await OfflineChapter(terminal: terminal, kinto: kinto).run()
    #if PostgreSQL
    case ("postgresql", 2): try await DatabaseChapter(terminal: terminal, url: arguments[1]).run()
    #endif
    case ("todo-client", 4): try await ToDoClient.serve(Array(arguments.dropFirst()))
    default: throw UsageError(description: "Usage: coredata-demo [offline [--kinto http://HOST:PORT] | postgresql postgresql://…]")
    }
} catch {
    let text = (error as? UsageError)?.description ?? (error as NSError).localizedDescription
    FileHandle.standardError.write(Data("coredata-demo: \(text)\n".utf8))
    exit(1)
}
