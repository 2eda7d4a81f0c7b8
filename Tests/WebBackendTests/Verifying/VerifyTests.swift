import CoreData
import Foundation
import JSONReading
import RemoteStore
import Testing
import WebBackend
import WebTransport

/// A list of albums that does what it is asked, but for what it is told to do wrong.
private struct AlbumList: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        case none, ignoredFilter, lostMatch, wrongOrder, ignoredOrder, wrongCount, cappedPage, earlyEnd, repeatedPage, ignoredIdentifiers,
            refusedFilter
    }
    let fault: Fault

    func answer(_ request: WebRequest) -> WebResponse {
        var albums = (1...60).map { (id: $0, year: 1960 + ($0 * 7) % 31, title: "T\(($0 * 37) % 60 + 10)") }
        if let year = request.query("min_year").flatMap({ Int($0) }) {
            if fault == .refusedFilter { return .json(#"{"message": "No."}"#, status: 400) }
            if fault != .ignoredFilter { albums.removeAll { $0.year < year } }
            if fault == .lostMatch { albums.removeFirst() }
        }
        if let year = request.query("year").flatMap({ Int($0) }) { albums.removeAll { $0.year != year } }
        if let ids = request.query("ids"), fault != .ignoredIdentifiers {
            let wanted = ids.split(separator: ",").compactMap { Int($0) }
            albums.removeAll { !wanted.contains($0.id) }
        }
        let total = fault == .wrongCount ? albums.count - 1 : albums.count
        switch request.query("sort") {
        case "year" where fault != .ignoredOrder: albums.sort { $0.year < $1.year }
        case "-year" where fault == .wrongOrder: albums.sort { $0.year < $1.year }
        case "-year" where fault != .ignoredOrder: albums.sort { $0.year > $1.year }
        default: break
        }
        let offset = request.query("offset").flatMap { Int($0) } ?? 0
        var limit = request.query("limit").flatMap { Int($0) } ?? 20
        if fault == .cappedPage { limit = min(limit, 10) }
        let start = fault == .repeatedPage && offset > 0 ? offset - 5 : offset
        var page = albums.dropFirst(start).prefix(limit)
        if fault == .earlyEnd, offset >= 20 { page = [] }
        let items = page.map { #"{"id": \#($0.id), "year": \#($0.year), "title": "\#($0.title)"}"# }.joined(separator: ",")
        return .json(#"{"items": [\#(items)], "total": \#(total)}"#)
    }

    static let service: WebService = {
        var style = ServiceStyle.plain
        style.envelope = Envelope(items: "items")
        style.paging = .offsets(of: 20, total: .body("total"))
        style.sorting = SortStyle("sort")
        style.filters = FilterStyle(
            .parameters, [.equal: "{name}={value}", .greaterThanOrEqual: "min_{name}={value}"], identifier: "id")
        // Years are not asked for in lists here.
        var list = WebCall.list(filters: ["year"], sorting: ["year"])
        list.parameters = [WebParameter("SELF", templates: [.isIn: "ids={values}"], maximumValues: 20)]
        let album = WebResource(
            "Album", ignored: ["band", "kind", "price", "rating", "isLive", "releaseDate"],
            calls: [list])
        return WebService(base, style: style, resources: [album])
    }()
}

@Suite("Verifying a description against its service") struct VerifyTests {
    private func findings(_ fault: AlbumList.Fault) async throws -> [CapabilityFinding] {
        let list = AlbumList(fault: fault)
        var options = WebClient.Options()
        options.retries = .never
        let backend = try WebBackend(
            AlbumList.service, model: Music.model(), transport: ScriptedService { list.answer($0) }, options: options)
        return try await backend.verify(sample: 100).findings
    }

    @Test("finds nothing where everything is as described") func honest() async throws {
        let found = try await findings(.none)
        #expect(found.isEmpty, "\(found)")
    }

    @Test(
        "names what is false",
        arguments: [
            (AlbumList.Fault.ignoredFilter, CapabilityFinding.Capability.filter, "It is ignored"),
            (.lostMatch, .filter, "are missing that match"), (.wrongOrder, .order, "came before"), (.ignoredOrder, .order, "came before"),
            (.cappedPage, .paging, "10 came: the service has a smaller limit"), (.earlyEnd, .paging, "ends its pages before"),
            (.repeatedPage, .paging, "came twice"), (.ignoredIdentifiers, .filter, "It is ignored"), (.refusedFilter, .filter, "It failed"),
            (.wrongCount, .count, "59, and 60"),
        ])
    fileprivate func faults(_ fault: AlbumList.Fault, _ capability: CapabilityFinding.Capability, _ seen: String) async throws {
        let found = try await findings(fault)
        #expect(found.contains { $0.capability == capability && $0.seen.contains(seen) && $0.entity == "Album" }, "\(found)")
    }

    @Test("A trace shows the plan, the requests with times and sizes, and the rows") func trace() throws {
        let list = AlbumList(fault: .none)
        let model = Music.model()
        let backend = try WebBackend(AlbumList.service, model: model, transport: ScriptedService { list.answer($0) })
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let (albums, trace) = try backend.tracing(fetch("Album", "year >= 1985 AND title CONTAINS '1'", by: ["year"]), in: context)
            let text = "\(trace)"
            #expect(trace.results == albums.count && !albums.isEmpty)
            #expect(trace.requests.count == trace.requests.compactMap(\.record).count && !trace.requests.isEmpty)
            #expect(text.contains("plan\n  ask Album.list(year >= 1985") && text.contains("in memory: where title CONTAINS"))
            #expect(text.contains("GET \(base)/albums?min_year=1985&sort=year") && text.contains(" rows") && text.contains(" bytes in "))
            let (_, second) = backend.tracing { albums.first?.text("title") }
            #expect(second.requests.isEmpty)
        }
    }
}
