import CoreData
import Foundation
import RemoteStore
import WebTransport

extension KeyCase {
    // MARK: Saving

    static func saving(
        _ keys: String..., text: String, style: String = "", resource: String = "", _ values: String..., scenario: Scenario = Scenario()
    )
        -> KeyCase
    {
        KeyCase(
            keys: keys,
            text:
                #"{"address": "\#(base)", "style": {\#(style)"listsAtOneEnd": true, "saving": {\#(text)}}, "resources": [{"entity": "Album"\#(resource)}, "Band", "Tag"]}"#,
            values: values, scenario: scenario)
    }

    static let batching = #""batch": {"requests": {"path": "batch", "#
    static func batched(_ answer: String) -> Scenario { Scenario { $0.path.hasSuffix("/batch") ? .json(answer) : nil } }
    static let batchAnswer = #"""
        {"responses": [{"status": 201, "body": {"id": 9}, "other": {"id": 8}, "code": 400, "error": null, "failure": "no"}, {"status": 201, "body": {"id": 7}, "other": {"id": 6},
         "code": 400, "failure": "no"}], "results": []}
        """#
    /// A precondition that fails, with what the service has.
    static let changed = Scenario { request in
        request.method == .patch ? .json(#"{"now": {"id": 1, "title": "theirs", "version": 9}}"#, status: 412) : nil
    }

    static let savings: [KeyCase] = [
        saving("saving.create", text: #""create": $"#, #""none""#, #""POST {path}""#, #""PUT {path}""#),
        saving(
            "saving.createIdentified", text: #""identity": "newUUID", "createIdentified": $"#, resource: #", "identifier": "uuid""#,
            #""none""#,
            #""PUT {path}/{SELF}""#),
        saving("saving.update", text: #""update": $"#, #""none""#, #""PATCH {path}/{SELF}""#, #""PUT {path}/{SELF}""#),
        saving("saving.delete", text: #""delete": $"#, #""none""#, #""DELETE {path}/{SELF}""#, #""POST {path}/{SELF}/remove""#),
        saving("action.method", text: #""update": {"method": $, "path": "{path}/{SELF}"}"#, #""PUT""#, #""PATCH""#),
        saving("action.path", text: #""update": {"method": "PUT", "path": $}"#, #""{path}/{SELF}""#, #""x/{SELF}""#),
        saving("action.query", text: #""update": {"method": "PUT", "path": "{path}/{SELF}", "query": $}"#, "{}", #"{"notify": false}"#),
        saving("saving.identity", text: #""identity": $"#, #""assignedByService""#, #""newUUID""#, #""attribute:title""#),
        saving("saving.replacesWholeResources", text: #""replacesWholeResources": $"#, "true", "false"),
        saving(
            "saving.precondition", text: #""precondition": $"#, style: #""version": "number:version", "#, #""none""#, #""ifMatch""#,
            #""field""#),
        saving("saving.conflicts", text: #""conflicts": $"#, #""none""#, #""byReading""#, #""backend""#),
        saving("saving.item", text: #""item": $"#, #""""#, #""data""#),
        saving("saving.constants", text: #""constants": $"#, "{}", #"{"a": 1}"#, #"{"a": {"jsonText": "\"{type}\""}}"#),
        saving("saving.removal", text: #""removal": $"#, "null", #"{"op": "delete"}"#),
        saving("saving.idempotencyHeader", text: #""idempotencyHeader": $"#, "null", #""Key""#),
        KeyCase(
            keys: ["saving.keyLifetime"],
            text: #"{"address": "\#(base)", "style": {"saving": {"idempotencyHeader": "Key", "keyLifetime": $}}, "resources": ["Album"]}"#,
            values: ["null", "60", "86400"], scenario: told),
        saving(
            "saving.answer", "answer.resource", "answer.assigned", "answer.location", text: #""answer": $"#, style: #""omitsNil": true, "#,
            "null", #""resource:doc""#,
            #""assigned:doc""#, #""location""#, #""location:?id={SELF}""#, #""nothing""#, scenario: answering),
        saving(
            "action.answer", text: #""create": {"method": "POST", "path": "{path}", "answer": $}"#, "null", #""resource:doc""#,
            #""location""#, #""nothing""#, scenario: answering),
        saving(
            "saving.batch", text: #""batch": $"#, #""none""#, #"{"requests": {"path": "batch"}}"#,
            #"{"documents": {"path": "batch", "list": "docs", "deleted": "_d"}}"#,
            scenario: batched(batchAnswer)),
        saving(
            "batchRequests.path", text: #""batch": {"requests": {"path": $}}"#, #""batch""#, #""a/batch""#, scenario: batched(batchAnswer)),
        saving("batchRequests.list", text: batching + #""list": $}}"#, #""requests""#, #""calls""#, #""""#, scenario: batched(batchAnswer)),
        saving(
            "batchRequests.answers", text: batching + #""answers": $}}"#, #""responses""#, #""results""#, scenario: batched(batchAnswer)),
        saving("batchRequests.maximum", text: batching + #""maximum": $}}"#, "2", "25", "1", scenario: new(3, batched(batchAnswer))),
        saving(
            "batchRequests.status", text: batching + #""error": "error", "status": $}}"#, #""status""#, #""code""#,
            scenario: batched(batchAnswer)),
        saving("batchRequests.body", text: batching + #""body": $}}"#, #""body""#, #""other""#, scenario: new(2, batched(batchAnswer))),
        saving(
            "batchRequests.error", text: batching + #""status": null, "error": $}}"#, "null", #""failure""#, #""error""#,
            scenario: batched(batchAnswer)),
        saving("batchRequests.wholePaths", text: batching + #""wholePaths": $}}"#, "true", "false", scenario: batched(batchAnswer)),
        saving(
            "batchRequests.atomic", text: batching + #""atomic": $}}"#, "true", "false", scenario: told),
        saving(
            "batchDocuments.path", text: documents(#""path": $, "list": "docs", "deleted": "d""#), #""batch""#, #""b/batch""#,
            scenario: batched("[]")),
        saving(
            "batchDocuments.list", text: documents(#""path": "batch", "list": $, "deleted": "d""#), #""docs""#, #""all""#,
            scenario: batched("[]")),
        saving(
            "batchDocuments.deleted", text: documents(#""path": "batch", "list": "docs", "deleted": $"#), #""d""#, #""gone""#,
            scenario: Scenario(
                answer: batched("[]").answer,
                extra: { context, lines in
                    let albums = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))) ?? []
                    for album in albums { context.delete(album) }
                    do { try context.save() } catch { lines.append("\(Scenario.text(error))") }
                })),
        saving("saving.createsIfNoneMatch", text: #""identity": "newUUID", "createsIfNoneMatch": $"#, "true", "false"),
        saving(
            "saving.deletesLists", text: #""deletesLists": $"#, "true", "false",
            scenario: Scenario(extra: { context, lines in
                do {
                    _ = try context.execute(
                        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")))
                } catch {
                    lines.append("\(Scenario.text(error))")
                }
            })),
        saving(
            "saving.current", text: #""precondition": "ifMatch", "current": $"#, style: #""version": "number:version", "#, "null",
            #""now""#, scenario: changed),
        saving(
            "saving.receipt", "receipt.id", text: #""receipt": $"#, #""none""#, #"{"id": "version", "version": "rev"}"#,
            #"{"id": "id", "version": "rev"}"#),
        saving(
            "receipt.version", text: #""precondition": "ifMatch", "receipt": {"id": "id", "version": $}"#,
            style: #""version": "number:version", "#, #""rev""#, #""tag""#,
            scenario: Scenario(answer: { $0.method == .patch ? .json(#"{"id": 1, "rev": "r7", "tag": "t7"}"#) : nil }, extra: twice)),
    ]
    /// Answers to new albums with everything that one may have; tells what the album has then.
    static let answering = Scenario(
        answer: { request in
            request.method != .post
                ? nil
                : .json(#"{"id": 9, "doc": {"id": 8, "title": "theirs"}}"#, status: 201, headers: ["Location": "\(base)/albums?id=7"])
        },
        extra: { context, lines in
            context.reset()
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(5, forKey: "year")
            do { try context.save() } catch { lines.append(Scenario.text(error)) }
            lines.append(
                "\(album.objectID.uriRepresentation().lastPathComponent) \(album.text("title") ?? "") \(album.value(forKey: "year") ?? "")")
        })
    static func documents(_ text: String) -> String { #""batch": {"documents": {\#(text)}}"# }
    /// Tells what new albums are called.
    static func new(_ count: Int, _ scenario: Scenario) -> Scenario {
        Scenario(
            answer: scenario.answer,
            extra: { context, lines in
                context.reset()
                let albums = (1...count).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Album", into: context) }
                do { try context.save() } catch { lines.append("\(Scenario.text(error))") }
                lines += albums.map { $0.objectID.uriRepresentation().lastPathComponent }.sorted()
            })
    }
    /// Changes an album twice: the second change is made on the version that the first one has brought.
    static let twice: @Sendable (NSManagedObjectContext, inout [String]) -> Void = { context, lines in
        context.reset()
        let albums = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))) ?? []
        guard let album = albums.min(by: { "\($0.objectID)" < "\($1.objectID)" }) else { return }
        for title in ["first", "second"] {
            album.setValue(title, forKey: "title")
            do { try context.save() } catch { lines.append("\(Scenario.text(error))") }
        }
    }

    // MARK: Errors

    static func failing(_ text: String, _ key: String, _ values: String..., body: String, status: Int = 400) -> KeyCase {
        KeyCase(
            keys: [key],
            text:
                #"{"address": "\#(base)", "style": {"listsAtOneEnd": true, "errors": {\#(text)}}, "resources": ["Album", "Band", "Tag"]}"#,
            values: values,
            scenario: Scenario { request in
                if request.method == .post || request.method == .patch { return .json(body, status: status) }
                return status == 200 && request.path.hasPrefix("/albums/") ? .json(body) : nil
            })
    }

    static let list = #"{"errors": [{"field": "title", "path": "year", "text": "too long", "detail": "too short"}], "faults": []}"#
    static let errors: [KeyCase] = [
        failing(#""messages": $"#, "errors.messages", #"["reason"]"#, #"["message"]"#, body: #"{"reason": "r", "message": "m"}"#),
        failing(#""pointer": "field", "list": $"#, "errors.list", #""errors""#, #""faults""#, body: list),
        failing(#""list": "errors", "pointer": $"#, "errors.pointer", #""field""#, #""path""#, body: list),
        failing(#""list": "errors", "pointer": "field", "detail": $"#, "errors.detail", #""text""#, #""detail""#, body: list),
        failing(#""byField": $"#, "errors.byField", "true", "false", body: #"{"title": ["too long"]}"#),
        KeyCase(
            keys: ["errors.flag"], text: #"{"address": "\#(base)", "style": {"errors": {"flag": $}}, "resources": ["Album"]}"#,
            values: ["null", #""error""#],
            scenario: Scenario { $0.path == "/albums" && $0.method == .get ? .json(#"{"error": "busy", "message": "m"}"#) : nil }),
        KeyCase(
            keys: ["errors.missing"],
            text: #"{"address": "\#(base)", "style": {"errors": {"flag": "error", "missing": $}}, "resources": ["Album", "Band"]}"#,
            values: ["[]", #"["gone"]"#],
            scenario: Scenario { $0.path.hasPrefix("/bands/") ? .json(#"{"error": "gone away", "message": "gone away"}"#) : nil }),
    ]

    // MARK: The feed

    static let changed200 = Scenario(
        answer: { request in
            if request.path == "/changes" || request.path == "/feed" {
                return .json(#"{"results": [{"seq": 1, "id": "1", "deleted": true}], "last_seq": "7", "pending": 0}"#)
            }
            let isFeed = ["since", "after"].contains { request.query($0) != nil }
            guard request.method == .get || request.method == .head, !request.path.dropFirst().contains("/") else { return nil }
            if request.path != "/albums" { return .json("[]", headers: ["ETag": "\"5\"", "Token": "4"]) }
            return isFeed
                ? .json(
                    #"[{"id": 1, "title": "new", "gone": true}, {"id": 2, "title": "newer", "removed": true}]"#,
                    headers: ["ETag": "\"9\"", "Token": "8"])
                : .json("[\(Scenario.row("albums", 1)),\(Scenario.row("albums", 2))]", headers: ["ETag": "\"5\"", "Token": "4"])
        },
        extra: { context, lines in
            guard let coordinator = context.persistentStoreCoordinator, let store = coordinator.persistentStores.first else { return }
            let (done, found) = (DispatchSemaphore(value: 0), Mutexed<[String]>([]))
            Task.detached {
                for _ in 0..<2 {
                    do {
                        let changes = try await coordinator.mergeRemoteChanges(of: store)
                        found.withValue { $0.append("\(changes.userInfo.count) \(changes.deletedObjectIDs.map { "\($0)" }.sorted())") }
                    } catch { found.withValue { $0.append("\(error.localizedDescription)") } }
                }
                done.signal()
            }
            done.wait()
            lines += found.withValue { $0 }
        })

    static let feeds: [KeyCase] = [
        style(
            "style.changeFeed", text: #""changeFeed": $"#, #""none""#,
            #"{"since": {"parameter": "since", "token": "header:ETag", "deleted": "gone"}}"#,
            #""couchDB:changes""#, scenario: changed200),
        style(
            "since.parameter", text: since(#""parameter": $, "token": "header:ETag", "deleted": "gone""#), #""since""#, #""after""#,
            scenario: changed200),
        style(
            "since.token", text: since(#""parameter": "since", "token": $, "deleted": "gone""#), #""header:ETag""#, #""header:Token""#,
            #""contentRange""#,
            scenario: changed200),
        style(
            "since.deleted", text: since(#""parameter": "since", "token": "header:ETag", "deleted": $"#), #""gone""#, #""removed""#,
            scenario: changed200),
    ]
    static func since(_ text: String) -> String { #""changeFeed": {"since": {\#(text)}}"# }
}
