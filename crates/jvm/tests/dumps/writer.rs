//! Writes dumps for tests.

/// The types of fields in a dump.
pub(crate) const OBJECT: u8 = 2;
pub(crate) const BYTE: u8 = 8;
pub(crate) const INT: u8 = 10;

/// A dump that grows.
pub(crate) struct Writer {
    pub(crate) wide: bool,
    records: Vec<u8>,
    segment: Vec<u8>,
    names: Vec<String>,
    serial: u32,
}

/// A class, as it is written.
#[derive(Default)]
pub(crate) struct Class<'c> {
    pub(crate) id: u64,
    pub(crate) name: &'c str,
    pub(crate) superclass: u64,
    pub(crate) loader: u64,
    pub(crate) statics: &'c [(&'c str, u64)],
    pub(crate) fields: &'c [(&'c str, u8)],
}

impl Writer {
    pub(crate) fn new(wide: bool) -> Self {
        Self {
            wide,
            records: Vec::new(),
            segment: Vec::new(),
            names: Vec::new(),
            serial: 0,
        }
    }

    pub(crate) fn id_bytes(&self, id: u64) -> Vec<u8> {
        if self.wide {
            id.to_be_bytes().to_vec()
        } else {
            (id as u32).to_be_bytes().to_vec()
        }
    }

    fn id(&mut self, id: u64) {
        let bytes = self.id_bytes(id);
        self.segment.extend(bytes);
    }

    fn record(&mut self, tag: u8, body: &[u8]) {
        self.records.push(tag);
        self.records.extend(0u32.to_be_bytes());
        self.records.extend((body.len() as u32).to_be_bytes());
        self.records.extend(body);
    }

    fn name(&mut self, text: &str) -> u64 {
        if let Some(nth) = self.names.iter().position(|name| name == text) {
            return nth as u64 + 1;
        }
        self.names.push(text.to_owned());
        let id = self.names.len() as u64;
        let mut body = self.id_bytes(id);
        body.extend(text.as_bytes());
        self.record(0x01, &body);
        id
    }

    /// A class, with its record `LOAD CLASS`.
    pub(crate) fn class(&mut self, class: &Class<'_>) {
        let name = self.name(class.name);
        self.serial += 1;
        let mut body = self.serial.to_be_bytes().to_vec();
        body.extend(self.id_bytes(class.id));
        body.extend(0u32.to_be_bytes());
        body.extend(self.id_bytes(name));
        self.record(0x02, &body);
        self.segment.push(0x20);
        self.id(class.id);
        self.segment.extend(0u32.to_be_bytes());
        for id in [class.superclass, class.loader, 0, 0, 0, 0] {
            self.id(id);
        }
        self.segment.extend(0u32.to_be_bytes());
        self.segment.extend(0u16.to_be_bytes());
        self.segment
            .extend((class.statics.len() as u16).to_be_bytes());
        for &(name, value) in class.statics {
            let name = self.name(name);
            self.id(name);
            self.segment.push(OBJECT);
            self.id(value);
        }
        self.segment
            .extend((class.fields.len() as u16).to_be_bytes());
        for &(name, java_type) in class.fields {
            let name = self.name(name);
            self.id(name);
            self.segment.push(java_type);
        }
    }

    pub(crate) fn instance(&mut self, id: u64, class: u64, contents: &[u8]) {
        self.segment.push(0x21);
        self.id(id);
        self.segment.extend(0u32.to_be_bytes());
        self.id(class);
        self.segment.extend((contents.len() as u32).to_be_bytes());
        self.segment.extend(contents);
    }

    pub(crate) fn array(&mut self, id: u64, class: u64, elements: &[u64]) {
        self.segment.push(0x22);
        self.id(id);
        self.segment.extend(0u32.to_be_bytes());
        self.segment.extend((elements.len() as u32).to_be_bytes());
        self.id(class);
        for &element in elements {
            self.id(element);
        }
    }

    pub(crate) fn bytes(&mut self, id: u64, contents: &[u8]) {
        self.segment.push(0x23);
        self.id(id);
        self.segment.extend(0u32.to_be_bytes());
        self.segment.extend((contents.len() as u32).to_be_bytes());
        self.segment.push(BYTE);
        self.segment.extend(contents);
    }

    /// A record of a root, or another of the heap, as it is.
    pub(crate) fn raw(&mut self, tag: u8, id: u64, rest: &[u8]) {
        self.segment.push(tag);
        self.id(id);
        self.segment.extend(rest);
    }

    pub(crate) fn root(&mut self, id: u64) {
        self.raw(0xff, id, &[]);
    }

    /// Ends a segment and begins another.
    pub(crate) fn next_segment(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        self.record(0x1c, &segment);
    }

    fn header(&self) -> Vec<u8> {
        let mut file = b"JAVA PROFILE 1.0.2\0".to_vec();
        file.extend(if self.wide { 8u32 } else { 4 }.to_be_bytes());
        file.extend(0u64.to_be_bytes());
        file
    }

    /// The file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.next_segment();
        self.record(0x2c, &[]);
        let mut file = self.header();
        file.extend(self.records);
        file
    }

    /// The file with one record of the heap whose length is 0, as a writer leaves it that does not know it.
    pub(crate) fn finish_open(mut self) -> Vec<u8> {
        let segment = std::mem::take(&mut self.segment);
        let mut file = self.header();
        self.record(0x0c, &[]);
        file.extend(self.records);
        file.extend(segment);
        file
    }
}
