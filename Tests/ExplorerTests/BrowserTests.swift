import CoreData
import Foundation
import TestSupport
import Testing

/// The explorer in a browser. One browser at a time: they are large.
@Suite("The explorer in a browser", .serialized, .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct BrowserTests {
    private static func served(_ arguments: [String] = [], tracks: Int = 0, tracked: Bool = false) throws -> (Folder, ServedStore) {
        let folder = try Folder()
        try Library.make(folder.store, tracked: tracked)
        if tracks > 0 { try Library.addTracks(tracks, to: folder.store) }
        return (folder, try ServedStore(folder.store, arguments))
    }

    private static let rows = #"document.querySelectorAll(".body .row .id a").length"#

    @Test("One walks from an entity to an object to its relatives and back") func walk()
        throws
    {
        let (folder, served) = try Self.served(tracked: true)
        let browser = try Browser()
        try browser.open(served.address)
        // The token is no longer in the address.
        try browser.wait("location.pathname === '/' && location.search === ''")
        try browser.wait(#"document.querySelector('.card [data-count="Album"]').textContent === "3""#)
        try browser.screenshot("home")
        try browser.click(".card", text: "Album")
        try browser.wait("\(Self.rows) === 3")
        try expect(browser.address, equals: "/entity/Album")
        try browser.screenshot("table")
        try browser.click(".sort", text: "year")
        try browser.wait(
            #"document.querySelector('[aria-sort="ascending"]') && document.querySelector('.body .row').innerText.includes("1974")"#)
        try expect(browser.address, equals: "/entity/Album?sort=year")
        try browser.click(".body .object", text: "Harmonia")
        try browser.wait("document.querySelector('h1').textContent === 'Harmonia'")
        try browser.click(".related .object", text: "Deluxe")
        try browser.wait("document.querySelector('h1').textContent === 'Deluxe' && document.querySelector('.picture').naturalWidth === 8")
        #expect(try browser.text("pre.json").contains("\"number\": 1073"))
        try expect(browser.texts("ol.related li a"), equals: ["Deluxe (Immer wieder)", "Walky-Talky", "Monza", "Notre Dame"])
        try browser.screenshot("object")
        try browser.back()
        try browser.wait("document.querySelector('h1').textContent === 'Harmonia'")
        try browser.back()
        try browser.wait("\(Self.rows) === 3 && location.search === '?sort=year'")
        try browser.click(".side a", text: "Model")
        try browser.wait("document.querySelectorAll('.diagram g[data-entity]').length === 3")
        try browser.screenshot("model")
        try browser.run("document.querySelector('g[data-entity=Track]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        try browser.wait("location.pathname === '/entity/Track' && \(Self.rows) === 4")
        try browser.click(".side a", text: "History")
        try browser.wait(for: "4 Track added")
        try browser.click(".timeline summary")
        try browser.wait(for: "Walky-Talky")
        try browser.screenshot("history")
        try browser.click(".asked summary")
        try browser.wait(for: "ATRANSACTION")
        try expect(browser.consoleErrors(), equals: [])
        withExtendedLifetime(folder) {}
    }

    @Test("A filter is completed, and its error is marked") func filter() throws {
        let (folder, served) = try Self.served()
        let browser = try Browser()
        try browser.open(served.address)
        try browser.click(".side a", text: "Album")
        try browser.wait("\(Self.rows) === 3")
        try browser.type("artist.na", into: "#where")
        try browser.wait("document.querySelector('.choices li span').textContent === 'artist.name'")
        try browser.type("\u{E004}", into: "#where")
        try browser.type(" BEGINS", into: "#where")
        try browser.wait("document.querySelector('.choices li span').textContent === 'BEGINSWITH[cd]'")
        try browser.type("\u{E004} 'neu'\u{E007}", into: "#where")
        try browser.wait("\(Self.rows) === 1")
        try expect(browser.address, equals: "/entity/Album?where=artist.name+BEGINSWITH%5Bcd%5D+%27neu%27")
        try expect(browser.text(".title .count"), equals: "1 object found")
        try browser.clear("#where")
        try browser.type("year > 1970 AND yeer < 1980\u{E007}", into: "#where")
        try browser.wait("document.querySelector('.marked mark').textContent === 'yeer'")
        try expect(browser.run("return document.querySelector('#where').getAttribute('aria-invalid')") as? String, equals: "true")
        try browser.screenshot("error")
        try expect(browser.consoleErrors(), equals: [])
        try browser.back()
        try browser.wait("\(Self.rows) === 1")
        withExtendedLifetime(folder) {}
    }

    @Test("A value is edited, undone and saved, with its error beside the field")
    func editing() throws {
        let (folder, served) = try Self.served(["--writable"])
        let browser = try Browser()
        try browser.open(served.address)
        try browser.click(".side a", text: "Album")
        try browser.click(".body .row:first-child .id a")
        try browser.click("[data-name=year] .edit")
        try browser.clear("#field-year")
        try browser.type("many\u{E007}", into: "#field-year")
        try browser.wait(for: "not a whole number")
        try expect(browser.run("return document.activeElement.id") as? String, equals: "field-year")
        try browser.screenshot("edit-error")
        try browser.clear("#field-year")
        try browser.type("2001\u{E007}", into: "#field-year")
        try browser.wait("document.querySelector('[data-name=year]').innerText.includes('2001')")
        try browser.wait(for: "1 change not saved")
        try browser.click("[data-action=undo]")
        try browser.wait("!document.querySelector('[data-name=year]').innerText.includes('2001')")
        try browser.click("[data-action=redo]")
        try browser.wait("document.querySelector('[data-name=year]').innerText.includes('2001')")
        // A relationship, by a search.
        try browser.click("[data-name=artist] h3 button")
        try browser.type("neu", into: "[data-name=artist] input")
        try browser.wait("document.querySelectorAll('.candidates button').length === 1")
        try browser.click(".candidates button")
        try browser.wait("document.querySelector('[data-name=artist] .related').innerText.includes('Neu!')")
        try browser.screenshot("edit")
        try browser.click("[data-action=save]")
        try browser.wait(for: "Nothing to save")
        try expect(browser.consoleErrors(), equals: [])
        let context = try Library.open(folder.store)
        let years = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album")).compactMap { $0.value(forKey: "year") as? Int }
        }
        #expect(years.contains(2001))
        try Library.close(context)
    }

    @Test("What another program saves appears") func liveUpdate() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        try Library.fill(context)
        let served = try ServedStore(folder.store)
        let browser = try Browser()
        try browser.open(served.address)
        try browser.click(".side a", text: "Artist")
        try browser.wait("\(Self.rows) === 2 && document.querySelector('.live').textContent === 'live'")
        try context.performAndWait {
            Library.add("Artist", ["name": "Cluster"], to: context)
            try context.save()
        }
        try browser.wait("\(Self.rows) === 3")
        try browser.wait(for: "Cluster")
        try expect(browser.consoleErrors(), equals: [])
        try Library.close(context)
    }

    @Test("A hundred thousand rows scroll") func scrolling() throws {
        let (folder, served) = try Self.served(tracks: 100_000)
        let browser = try Browser()
        try browser.open(served.address)
        try browser.click(".side a", text: "Track")
        try browser.wait(for: "100,004 objects")
        // Only rows in sight are elements.
        #expect(try browser.run("return document.querySelectorAll('.row').length") as? Int ?? 1000 < 120)
        try browser.run("const s = document.querySelector('.scroller'); s.scrollTop = s.scrollHeight / 2")
        try browser.wait(for: "Track 0050")
        try browser.run("const s = document.querySelector('.scroller'); s.scrollTop = s.scrollHeight")
        try browser.wait(for: "Track 0100000")
        #expect(try browser.run("return document.querySelectorAll('.row').length") as? Int ?? 1000 < 120)
        // The last row is in sight.
        let script = """
            const box = [...document.querySelectorAll('.body .row')].at(-1).getBoundingClientRect();
            return box.bottom <= document.querySelector('.scroller').getBoundingClientRect().bottom + 1;
            """
        try expect(browser.run(script) as? Bool, equals: true)
        try browser.run("document.querySelector('.scroller').scrollTop = 0")
        try browser.wait(for: "Deluxe (Immer wieder)")
        // The keyboard goes from row to row.
        try browser.run("document.querySelector('.body .row a').focus()")
        try browser.type("\u{E015}", into: ".body .row a")
        try expect(browser.run("return document.activeElement.closest('.row').dataset.index") as? String, equals: "1")
        try expect(browser.consoleErrors(), equals: [])
        withExtendedLifetime(folder) {}
    }

    /// Texts that would run in a page that takes them for markup.
    @Test("Nothing in a store runs") func hostileStore() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        let texts = [
            "<script>window.ran = 1</script>", "</script><script>window.ran = 2</script>", "<img src=x onerror='window.ran = 3'>",
            "\"><svg onload=window.ran=4>", "javascript:window.ran=5", "\u{202E}txt.exe\u{0000}\u{0007}\u{001B}[31m",
            "{{constructor.constructor('window.ran=6')()}}",
            "[\"<script>window.ran = 7</script>\"]", String(repeating: "<b>long</b> ", count: 200_000),
        ]
        try context.performAndWait {
            for text in texts {
                let artist = Library.add("Artist", ["name": text, "note": text], to: context)
                artist.setValue(URL(string: "javascript:window.ran=8"), forKey: "site")
                Library.add("Album", ["title": text, "info": text, "cover": Data(text.utf8), "artist": artist], to: context)
            }
            try context.save()
        }
        try Library.close(context)
        let served = try ServedStore(folder.store)
        let browser = try Browser()
        try browser.open(served.address)
        for entity in ["Album", "Artist"] {
            try browser.click(".side a", text: entity)
            try browser.wait("document.querySelector('h1').textContent === '\(entity)' && \(Self.rows) === \(texts.count)")
            try expect(browser.run("return document.querySelectorAll('main script, main img, main svg').length") as? Int, equals: 0)
            let ids =
                try browser.run("return [...document.querySelectorAll('.body .row .id a')].map((one) => one.getAttribute('href'))")
                as? [String]
            for id in ids ?? [] {
                try browser.click(".body a[href='\(id)']")
                try browser.wait(
                    "location.pathname === '\(id)' && document.querySelector('.attributes dd') && !document.querySelector('.row')")
                try expect(
                    browser.run("return [...document.querySelectorAll('a')].filter((one) => one.protocol === 'javascript:').length")
                        as? Int, equals: 0)
                try expect(browser.run("return document.querySelectorAll('main script, main svg, main b').length") as? Int, equals: 0)
                try browser.back()
                try browser.wait("\(Self.rows) === \(texts.count)")
            }
        }
        #expect(try browser.run("return window.ran ?? null") is NSNull?)
        try expect(browser.run("return typeof window.ran") as? String, equals: "undefined")
        try browser.wait(for: "\\u{202e}txt.exe")
        try expect(browser.consoleErrors(), equals: [])
    }

    @Test("A phone shows everything without scrolling sideways") func phone() throws {
        let (folder, served) = try Self.served()
        let browser = try Browser(width: 375, height: 720, isDark: true)
        try browser.open(served.address)
        try browser.wait("document.querySelectorAll('.card').length === 3")
        func fits(_ place: String) throws {
            #expect(try browser.run("return document.documentElement.scrollWidth") as? Int ?? 0 <= 375, "\(place)")
        }
        try fits("home")
        try browser.click("#menu")
        try browser.click(".side a", text: "Album")
        try browser.wait("\(Self.rows) === 3")
        try fits("table")
        try browser.screenshot("phone-table")
        try browser.click(".body .row:first-child .id a")
        try browser.wait("document.querySelector('.attributes dd')")
        try fits("object")
        try browser.screenshot("phone-object")
        try expect(browser.run("return getComputedStyle(document.body).backgroundColor") as? String, equals: "rgb(20, 23, 29)")
        try expect(browser.consoleErrors(), equals: [])
        withExtendedLifetime(folder) {}
    }
}
