import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Services whose pages never end, or whose rows are asked for one by one: what a fetch costs.
@Suite("Storms of requests") struct RepeatedPageTests {
    /// Albums of pages of two, as a service answers that has five of them.
    private static func page(_ number: Int) -> String {
        "[" + (2 * number - 1...min(5, 2 * number)).map { #"{"id": \#($0), "title": "\#($0)"}"# }.joined(separator: ", ") + "]"
    }

    enum Habit: CaseIterable {
        /// The parameter of the page is not known.
        case firstForEver
        /// What is asked for behind the last page is the last page.
        case lastForEver
        /// Each page names a next one, and the last of them another one each time.
        case newTokens
    }

    @Test("A page that is repeated ends in an error after a few more requests", arguments: Habit.allCases)
    func repeated(_ habit: Habit) throws {
        let counter = Mutexed(0)
        var style = ServiceStyle.plain
        style.paging = habit == .newTokens ? .following(.header("X-Next"), of: 2) : .pages("page", of: 2)
        // A last page that is not full would end the list.
        let transport = ScriptedService { request in
            let asked = request.query("page").flatMap { Int($0) } ?? 1
            switch habit {
            case .firstForEver: return .json(Self.page(1))
            case .lastForEver: return .json(Self.page(min(asked, 2)))
            case .newTokens:
                let token = counter.withValue {
                    $0 += 1
                    return $0
                }
                return .json(Self.page(min(asked, 2)), headers: ["X-Next": "\(base)/albums?page=\(asked + 1)&token=\(token)"])
            }
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(transport)
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            #expect(error?.localizedDescription.contains("do not end") ?? false, "\(String(describing: error))")
            #expect(error.map { "\($0)" }?.contains("the page before") ?? false, "\(String(describing: error))")
        }
        // Some pages may be asked for ahead.
        #expect(transport.requests.count < 10, "\(transport.targets)")
    }

    @Test("Rows that can only be read one by one are not begun where the limit of requests would end them", arguments: [false, true])
    func oneByOne(byRelationship: Bool) throws {
        let count = 250
        let transport = ScriptedService { request in
            if request.path == "/albums" {
                return .json("[" + (1...count).map { #"{"id": \#($0)}"# }.joined(separator: ",") + "]")
            }
            return .json(#"{"id": \#(request.path.split(separator: "/").last ?? "0"), "title": "x", "year": 1, "band": null}"#)
        }
        let ids = WebCall("list", path: "albums", properties: [])
        let context = try WebService(base, resources: [WebResource("Album", calls: [ids, .one]), WebResource("Band")]).context(transport)
        for _ in 0..<2 {
            context.performAndWait {
                let error = #expect(throws: NSError.self) {
                    try context.fetch(fetch("Album", byRelationship ? "band.name == 'x'" : "title == 'x'"))
                }
                #expect(error.map { "\($0)" }?.contains("\(count + 1) requests") ?? false, "\(String(describing: error))")
            }
        }
        #expect(transport.requests.count <= 6, "\(transport.requests.count)")
    }
}
