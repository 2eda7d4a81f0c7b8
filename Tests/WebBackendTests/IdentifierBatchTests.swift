import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Services that are asked for many resources by their identifiers, and give fewer at a time.
@Suite("Resources that are asked for by their identifiers") struct IdentifierBatchTests {
    /// What a service does with more identifiers than it gives resources at a time.
    enum Habit: CaseIterable, Sendable {
        /// It gives the first ones, whatever page is asked for.
        case cuts
        /// It gives them in pages.
        case pages
        /// It gives those with the least identifiers, and says nothing of the others.
        case cutsInItsOrder
        /// It names the address of the rest.
        case names
    }

    private static let bandCount = 30

    /// An album by each band; every third band is gone where it is asked for by its identifier.
    private static func service(_ habit: Habit, withGone: Bool) -> ScriptedService {
        ScriptedService { request in
            if request.path == "/albums" {
                let items = (request.query("page").map { $0 != "1" } ?? false ? [] : Array(1...bandCount)).map {
                    #"{"id": \#($0), "title": "\#($0)", "year": 1, "band": \#($0)}"#
                }
                return .json("{\"items\": [\(items.joined(separator: ","))]}")
            }
            if request.path.hasPrefix("/bands/") {
                let id = Int(request.path.dropFirst(7)) ?? 0
                return withGone && id.isMultiple(of: 3) ? .json("{}", status: 404) : .json(#"{"id": \#(id), "name": "Band \#(id)"}"#)
            }
            var ids = (request.query("id__in") ?? "").split(separator: ",").compactMap { Int($0) }
            if withGone { ids.removeAll { $0.isMultiple(of: 3) } }
            if habit == .cutsInItsOrder { ids.sort() }
            let page = habit == .cuts || habit == .cutsInItsOrder ? 1 : Int(request.query("page") ?? "1") ?? 1
            let rest = ids.dropFirst((page - 1) * 7)
            let items = rest.prefix(7).map { #"{"id": \#($0), "name": "Band \#($0)"}"# }.joined(separator: ",")
            let list = ids.map { "\($0)" }.joined(separator: ",")
            let next = habit == .names && rest.count > 7 ? #", "next": "/bands?id__in=\#(list)&page=\#(page + 1)""# : ""
            return .json("{\"items\": [\(items)]\(next)}")
        }
    }

    @Test(
        "All of them come, whatever the service gives at a time, and one that is missing is absent only when that is known",
        arguments: Habit.allCases, [false, true])
    func batches(_ habit: Habit, withGone: Bool) throws {
        var style = ServiceStyle.plain
        style.envelope.items = "items"
        style.filters = FilterStyle(.parameters, [.isIn: "{name}__in={values}"], identifier: "id")
        style.paging = habit == .pages ? .pages("page", of: 10) : habit == .names ? .following(.body("next"), of: 10) : .none
        let album = WebResource("Album", calls: [WebCall("list", path: "albums", filters: [], sorting: [])])
        let bands = WebCall("list", path: "bands", filters: ["SELF"], sorting: [])
        for bandID in 1...Self.bandCount {
            let service = Self.service(habit, withGone: withGone)
            let context = try WebService(base, style: style, resources: [album, WebResource("Band", calls: [bands, .one])]).context(service)
            try context.performAndWait {
                let found = try context.fetch(fetch("Album", "band.name == 'Band \(bandID)'")).compactMap { $0.text("title") }
                expect(found, equals: withGone && bandID.isMultiple(of: 3) ? [] : ["\(bandID)"], "\(habit)")
            }
            #expect(service.requests.count < 45, "\(habit): \(service.targets)")
        }
    }
}
