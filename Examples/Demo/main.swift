// A tour through the example stores: `swift run coredata-demo`. It needs no network; the web service it talks to runs in this process.

import Foundation
import SampleService

let terminal = Terminal()
do {
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
    tally.add(try await SongsChapter(terminal: terminal).run())
    try await FailureChapter(service: service, terminal: terminal).run()

    terminal.chapter("What it took")
    terminal.table(Tally.header, tally.rows)
    await service.stop()
} catch {
    FileHandle.standardError.write(Data("coredata-demo: \((error as NSError).localizedDescription)\n".utf8))
    exit(1)
}
